"""Calls a user group gateway from your backend: copy this file. Python 3.9 or newer, the standard library alone.

    gateway = UserGroupGateway("https://example.com/groups", os.environ["API_TOKEN"])
    viewer = gateway.resolve_viewer(token)  # None: nobody has this token. GatewayError: it is not known

Every method raises GatewayError when it fails. Calls that get no response, 503 or 429 are sent again; each change has an
Idempotency-Key, by which it is made once. A gateway can be used by many threads.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import queue
import random
import re
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Mapping, NamedTuple
from urllib.parse import urlencode, urlsplit


class GatewayError(Exception):
    """A call failed. `code` is one of the gateway, or NETWORK (no complete response), TIMEOUT (none in time),
    INVALID_RESPONSE (not one of the gateway), INVALID_WEBHOOK. After NETWORK, TIMEOUT and UNAVAILABLE, a change may have been
    made: repeat it with the same idempotency_key."""

    def __init__(self, code: str, message: str, issues: Any = None, request_id: str | None = None,
                 retry_after: int | None = None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        #: What is wrong with the input: {"path": ["providedId"], "message": "…"}.
        self.issues: list[dict[str, Any]] = issues or []
        #: The id under which the gateway logged the request, if it responded.
        self.request_id = request_id
        #: When to try again, in seconds, if the gateway says so.
        self.retry_after = retry_after


@dataclass(frozen=True)
class UserGroup:
    """A user group. `mapping` has `schemaId` and `dataSource`; `token` is None for a viewer."""

    id: str
    team_id: int
    provided_id: str
    name: str
    mapping: list[dict[str, str]]
    properties: Any
    environment_tag: str | None
    status: str
    version: int
    token: str | None


class EmbedToken(NamedTuple):
    """A signed token for a page, and when it expires, as ISO 8601."""

    token: str
    expires_at: str


_VIEWER = "id teamId providedId name mapping { schemaId dataSource } properties environmentTag status version"
_GROUP = f"userGroup {{ {_VIEWER} token }}"
_RESOLVE = f"query ResolveViewer($token: String!) {{ result: userGroup(by: {{ token: $token }}) {{ {_VIEWER} }} }}"
#: What leaves a value as it is where None clears it.
_KEEP: Any = object()
#: Errors after which the same request is sent again.
_REPEATED = {"NETWORK", "TIMEOUT", "UNAVAILABLE", "RATE_LIMITED", "IDEMPOTENCY_KEY_IN_USE"}

#: Further errors that say nothing of an earlier request for the same change.
_UNRELATED = {"UNAUTHENTICATED", "FORBIDDEN", "INTERNAL", "REQUEST_TIMEOUT", "INVALID_RESPONSE"}


def _is_uncertain(error: "GatewayError") -> bool:
    """Whether a change may have been made that failed so."""
    return error.code in ("NETWORK", "TIMEOUT") or error.code == "UNAVAILABLE" and "Nothing was changed" not in error.message


class UserGroupGateway:
    """A gateway. `timeout` is the limit of a call in seconds, with all `retries` and the pauses between them."""

    def __init__(self, url: str, api_token: str, *, timeout: float = 30, retries: int = 3):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url must begin with http:// or https://, and have a host.")
        if "@" in parts.netloc:
            raise ValueError("url must have no user name and no password: the gateway takes api_token alone.")
        if not re.fullmatch(r"[\x21-\x7e]+", api_token):
            raise ValueError("api_token must be a text of printable characters without spaces or line breaks.")
        connection = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connect = lambda limit: connection(parts.hostname, parts.port, timeout=limit)
        self._path = parts.path.rstrip("/")
        self._authorization = f"Token {api_token}"
        self._timeout = timeout
        self._retries = retries

    def resolve_viewer(self, token: object) -> UserGroup | None:
        """The group that views with a token; None if it identifies none, whatever a browser sent. Scope groups:resolve."""
        if not isinstance(token, str) or len(token) > 1_000:
            return None  # no token is that long
        try:
            found = self._graphql(_RESOLVE, {"token": token}, {})
        except GatewayError as error:
            if any(issue.get("path") == ["by", "token"] for issue in error.issues):
                return None
            raise
        return found and _group(found)

    def get_or_create(self, provided_id: str, *, name: str | None = None, properties: Any = None,
                      mapping: list[dict[str, str]] | None = None, idempotency_key: str | None = None) -> tuple[UserGroup, bool]:
        """The group with this id, and whether it was created. Never changes an existing one. Scope groups:write."""
        given = _given(provided_id=provided_id, name=name, properties=properties, mapping=mapping)
        result = self._change("GetOrCreateUserGroup", f"created {_GROUP}", given, idempotency_key)
        return _group(result["userGroup"]), result["created"]

    def update(self, by: Mapping[str, Any], *, name: str | None = None, properties: Any = _KEEP, merge_properties: Any = None,
               mapping: list[dict[str, str]] | None = None, expected_version: int | None = None,
               idempotency_key: str | None = None) -> UserGroup:
        """Changes what is given of a group; properties=None clears them. `by` is {"provided_id": …}, {"team_id": …} or {"id": …}.
        Scope groups:write."""
        given = _given(by=_given(**by), name=name, merge_properties=merge_properties, mapping=mapping,
                       expected_version=expected_version)
        if properties is not _KEEP:
            given["properties"] = properties
        return _group(self._change("UpdateUserGroup", _GROUP, given, idempotency_key)["userGroup"])

    def rotate_token(self, current_token: str, *, grace_seconds: int | None = None,
                     idempotency_key: str | None = None) -> tuple[UserGroup, str | None]:
        """Replaces a token: the group with its new one, and until when the old one works. Scope groups:write."""
        given = _given(current_token=current_token, grace_seconds=grace_seconds)
        result = self._change("RotateUserGroupToken", f"{_GROUP} previousTokenExpiresAt", given, idempotency_key)
        return _group(result["userGroup"]), result["previousTokenExpiresAt"]

    def create_embed_token(self, by: Mapping[str, Any], *, audience: str | None = None, expires_in_seconds: int | None = None,
                           viewer: Mapping[str, Any] | None = None, resources: list[str] | None = None, origin: str | None = None,
                           include_properties: bool | None = None) -> EmbedToken:
        """A signed token that identifies a group until it expires. Scope embed:sign."""
        given = _given(by=_given(**by), audience=audience, expires_in_seconds=expires_in_seconds, viewer=viewer,
                       resources=resources, origin=origin, include_properties=include_properties)
        # Without a key: the gateway would return a token again that may have expired.
        result = self._graphql(_mutation("CreateEmbedToken", "token expiresAt"), {"input": given}, {})
        return EmbedToken(result["token"], result["expiresAt"])

    def introspect(self, token: object) -> dict[str, Any] | None:
        """What an embed token says; None if it is not genuine, has expired or was revoked. Check aud. Scope groups:resolve."""
        if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]{1,10000}", token):
            return None  # no token is like that
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        claims = self._call("/oauth2/introspect", urlencode({"token": token}), headers, _read_introspection)
        return claims if claims["active"] else None

    def _change(self, name: str, selection: str, given: dict[str, Any], key: str | None) -> dict[str, Any]:
        key = str(uuid.uuid4()) if key is None else key
        if not re.fullmatch(r"[\x20-\x7e]{1,255}", key):
            raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters.")
        escaped = re.sub(r'(["\\])', r"\\\1", key)
        return self._graphql(_mutation(name, selection), {"input": given}, {"Idempotency-Key": f'"{escaped}"'})

    def _graphql(self, query: str, variables: dict[str, Any], headers: dict[str, str]) -> Any:
        body = json.dumps({"query": query, "variables": variables})
        read = _read_graphql if query is _RESOLVE else _read_change
        return self._call("/graphql", body, {"Content-Type": "application/json", **headers}, read)

    def _call(self, path: str, body: str, headers: dict[str, str], read: Callable[..., Any]) -> Any:
        deadline = time.monotonic() + self._timeout
        headers = {"Authorization": self._authorization, **headers}
        attempt = 1
        uncertain = None  # the latest error after which it is not known whether the change was made
        while True:
            last = attempt > self._retries
            left = deadline - time.monotonic()
            try:
                # Half of what is left, so that a request that gets no response can be sent again.
                return _read(self._exchange(self._path + path, body, headers, left if last else left / 2), read)
            except GatewayError as error:
                pause = (error.retry_after or 0.05 * 2**attempt) * random.uniform(1, 1.5)
                if "Idempotency-Key" in headers and _is_uncertain(error):
                    uncertain = error
                if error.code not in _REPEATED or last or time.monotonic() + pause >= deadline:
                    if uncertain and error.code in _REPEATED | _UNRELATED:
                        raise uncertain
                    raise
            time.sleep(pause)
            attempt += 1

    def _exchange(self, path: str, body: str, headers: dict[str, str], limit: float) -> Any:
        """Sends a request in a thread of its own: the timeout of a socket limits each read, not all of them, and not DNS."""
        outcome: queue.SimpleQueue[Any] = queue.SimpleQueue()
        connection = self._connect(limit + 1)  # ends the thread, too

        def exchange() -> None:
            try:
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                outcome.put((response.status, response.headers, response.read()))
            except Exception as error:
                outcome.put(error)
            finally:
                connection.close()

        threading.Thread(target=exchange, daemon=True).start()
        try:
            reply = outcome.get(timeout=limit)
        except queue.Empty:
            raise GatewayError("TIMEOUT", f"The gateway did not respond within {limit:.1f} seconds.") from None
        if isinstance(reply, Exception):
            raise GatewayError("NETWORK", f"No complete response from the gateway: {reply!r}") from reply
        return reply


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str, *, now: float | None = None) -> Any:
    """The event of a webhook, if it was sent within the last 5 minutes by the holder of the secret (Standard Webhooks 1.0.0).

    `secret` is `whsec_…`, as the gateway showed it; `body` as it arrived, not parsed; `now` in seconds since 1970. A webhook
    may arrive more than once, with the same header webhook-id. Raises GatewayError INVALID_WEBHOOK, and ValueError for a
    malformed secret.
    """
    key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    if not key:
        raise ValueError("The secret is empty.")
    given = {name.lower(): value for name, value in headers.items()}
    event_id, sent_at, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    seconds = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]{1,15}", sent_at) or abs(seconds - int(sent_at)) > 300:
        raise GatewayError("INVALID_WEBHOOK", "The webhook was not sent within the last 5 minutes.")
    content = body.encode() if isinstance(body, str) else body
    signed = hmac.new(key, f"{event_id}.{sent_at}.".encode() + content, hashlib.sha256).digest()
    own = b"v1," + base64.b64encode(signed)
    if not event_id or not any(hmac.compare_digest(own, each.encode()) for each in signatures.split(" ")):
        raise GatewayError("INVALID_WEBHOOK", "No signature of the webhook is of this secret and this body.")
    try:
        return json.loads(content)
    except ValueError as error:
        raise GatewayError("INVALID_WEBHOOK", "The body of the webhook is no JSON.") from error


def _mutation(name: str, selection: str) -> str:
    failure = "... on Error { code message } ... on InvalidInput { issues { path message } }"
    field = f"{name[0].lower()}{name[1:]}(input: $input)"
    return f"mutation {name}($input: {name}Input!) {{ result: {field} {{ ... on {name}Payload {{ {selection} }} {failure} }} }}"


def _given(**members: Any) -> dict[str, Any]:
    """An input of GraphQL, without what was not given."""
    camel = {name: re.sub("_(.)", lambda match: match[1].upper(), name) for name in members}
    return {camel[name]: value for name, value in members.items() if value is not None}


def _group(found: dict[str, Any]) -> UserGroup:
    names = ["id", "teamId", "providedId", "name", "mapping", "properties", "environmentTag", "status", "version", "token"]
    return UserGroup(*(found.get(name) for name in names))


def _read(reply: Any, read: Callable[..., Any]) -> Any:
    """What a response says. Raises GatewayError also when it is not one of the gateway."""
    status, headers, content = reply
    seconds = re.fullmatch("[0-9]{1,9}", headers.get("Retry-After", ""))  # a proxy may send a date
    details = {"request_id": headers.get("X-Request-Id"), "retry_after": int(seconds[0]) if seconds else None}
    try:
        result = read(json.loads(content), details)
        if not 200 <= status <= 299:
            raise ValueError(status)
        return result
    except GatewayError as error:
        if status < 500 or error.code in ("UNAVAILABLE", "INTERNAL"):  # of the gateway, if it has failed
            raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    code = "UNAVAILABLE" if status == 408 or status >= 500 else "NETWORK" if 200 <= status <= 299 else "INVALID_RESPONSE"
    message = f"The response, with status {status}, is not one of the gateway: it was cut off, or a proxy sent it."
    raise GatewayError("RATE_LIMITED" if status == 429 else code, message, **details)


def _read_graphql(body: Any, details: dict[str, Any]) -> Any:
    if body.get("errors"):  # a proxy's may look like those of the gateway, which always have a code
        error = body["errors"][0]
        extensions = error["extensions"]
        if not isinstance(extensions["code"], str):
            raise TypeError("code")
        raise GatewayError(extensions["code"], error["message"], extensions.get("issues"), **details)
    return body["data"]["result"]


def _read_change(body: Any, details: dict[str, Any]) -> Any:
    result = _read_graphql(body, details)
    if "code" in result:  # an error type of a mutation
        raise GatewayError(result["code"], result["message"], result.get("issues"), **details)
    return result


def _read_introspection(body: Any, details: dict[str, Any]) -> Any:
    if "code" in body:
        raise GatewayError(body["code"], body["detail"], body.get("issues"), **details)
    if not isinstance(body["active"], bool):
        raise ValueError("active")
    return body
