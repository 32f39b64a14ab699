"""Executes a case of client/conformance, from standard input, with the Python client, and prints what came of each call."""

import json
import re
import sys
import time
from dataclasses import asdict

from user_group_gateway import GatewayError, UserGroupGateway, verify_webhook


def snake(members):
    return {re.sub("[A-Z]", lambda match: "_" + match[0].lower(), name): value for name, value in members.items()}


def neutral(group):
    return {re.sub("_(.)", lambda match: match[1].upper(), name): value for name, value in asdict(group).items()}


def execute(case, call):
    operation, given = call["operation"], call["arguments"]
    if operation == "verifyWebhook":
        return verify_webhook(given["secret"], given["headers"], given["body"], now=call["at"])
    gateway = UserGroupGateway(case["url"], case["apiToken"], timeout=case["timeoutMs"] / 1000, retries=case["retries"])
    key = {"idempotency_key": call["idempotencyKey"]} if "idempotencyKey" in call else {}
    if operation == "resolveViewer":
        viewer = gateway.resolve_viewer(given["token"])
        return viewer and neutral(viewer)
    if operation == "getOrCreate":
        group, created = gateway.get_or_create(**snake(given), **key)
        return {"userGroup": neutral(group), "created": created}
    if operation == "update":
        return {"userGroup": neutral(gateway.update(**{**snake(given), "by": snake(given["by"])}, **key))}
    if operation == "rotateToken":
        group, expires_at = gateway.rotate_token(**snake(given), **key)
        return {"userGroup": neutral(group), "previousTokenExpiresAt": expires_at}
    if operation == "createEmbedToken":
        token, expires_at = gateway.create_embed_token(**{**snake(given), "by": snake(given["by"])})
        return {"token": token, "expiresAt": expires_at}
    if operation == "introspect":
        return gateway.introspect(given["token"])
    raise NotImplementedError(operation)


def outcome_of(case, call):
    try:
        return {"result": execute(case, call)}
    except GatewayError as error:
        members = {"requestId": error.request_id, "retryAfterSeconds": error.retry_after}
        return {"error": {"code": error.code, "message": error.message, "issues": error.issues, **members}}
    except ValueError:
        return {"usageError": True}


case = json.load(sys.stdin)
outcomes = []
for call in case["calls"]:
    started_at = time.monotonic()
    outcomes.append({**outcome_of(case, call), "elapsedMs": (time.monotonic() - started_at) * 1000})
print(json.dumps(outcomes))
