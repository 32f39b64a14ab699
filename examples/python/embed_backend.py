"""An embed backend: a page that shows which user group is viewing, and gets embed tokens for the data of its dashboard.

    GATEWAY=http://127.0.0.1:4000 API_TOKEN=ugk_… python3 embed_backend.py
"""

import html
import json
import os
import sys
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from string import Template
from urllib.parse import parse_qs, quote, unquote

from user_group_gateway import GatewayError, UserGroupGateway

gateway = UserGroupGateway(os.environ["GATEWAY"], os.environ["API_TOKEN"], timeout=5)

PAGE = Template("""<!doctype html><html lang="en"><title>Dashboard</title><link rel="icon" href="data:,">
<h1>Dashboard of $name</h1><pre id="data"></pre>
<script type="module">
  let token, lifetimeMs = 0, askedAt = [0, 0];
  // Users set the one, and the other may stand still while the machine sleeps.
  const clocks = () => [Date.now(), performance.now()];
  const ageMs = () => Math.max(...clocks().map((now, each) => now - askedAt[each]));

  async function ask(path, headers) {
    const response = await fetch(path, { headers, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }

  async function renew() {
    const now = clocks();
    const { token: renewed } = await ask('/embed-token');
    const { iat, exp } = JSON.parse(atob(renewed.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
    [token, lifetimeMs, askedAt] = [renewed, 1_000 * (exp - iat), now];
  }

  // The page may stay open for days. Nothing of an earlier response stays: the group may be suspended since.
  async function refresh() {
    let shown;
    try {
      let problem = 'The embed token has expired.';
      if (ageMs() >= 0.75 * lifetimeMs) await renew().catch(({ message }) => { problem = message; });
      if (ageMs() >= lifetimeMs) throw new Error(problem);
      shown = JSON.stringify(await ask('/data', { authorization: 'Bearer ' + token }));
    } catch ({ message }) {
      shown = message;
    }
    document.querySelector('#data').textContent = shown;
    setTimeout(refresh, 10_000);
  }
  refresh();
</script>""")
SIGN_IN = """<!doctype html><html lang="en"><title>Sign in</title>
<form method="post" action="/sign-in"><label>User group token <input name="token"></label> <button>Sign in</button></form>"""


class EmbedBackend(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        try:
            if self.path == "/":
                viewer = self.viewer()
                self.respond(200, PAGE.substitute(name=html.escape(viewer.name))) if viewer else self.respond(401, SIGN_IN)
            elif self.path == "/embed-token":
                viewer = self.viewer()
                token = gateway.create_embed_token({"id": viewer.id}, audience="dashboards") if viewer else None
                self.respond(200, json.dumps(token._asdict())) if token else self.respond(401, "Sign in first.")
            elif self.path == "/data":  # stands for the service that has the data of the dashboards
                claims = gateway.introspect(self.headers.get("Authorization", "").removeprefix("Bearer "))
                accepted = claims and claims.get("aud") == "dashboards"
                self.respond(200, json.dumps({"sales_of": claims["sub"]})) if accepted else self.respond(401, "No embed token.")
            else:
                self.respond(404, "Not found")
        except GatewayError as error:
            if error.code in ("NOT_FOUND", "SUSPENDED"):  # a moment ago
                self.respond(401, "Sign in again.")
            else:  # it is not known who is viewing: show nothing
                self.log_error("%s (request %s)", error, error.request_id)
                self.respond(503, "Try again later.", {"Retry-After": str(error.retry_after or 1)})

    def do_POST(self) -> None:
        """Stands for the sign-in of your application, which knows the group of its user and the token of the group."""
        length = int(self.headers.get("Content-Length", "0"))
        if self.path != "/sign-in" or not 0 < length < 10_000:
            return self.respond(404, "Not found")
        token = parse_qs(self.rfile.read(length).decode(errors="replace")).get("token", [""])[0]
        # A cookie cannot have every character that a token of an imported group may have.
        cookie = SimpleCookie({"token": quote(token, safe="")})
        cookie["token"].update({"path": "/", "httponly": True, "samesite": "Strict"})  # with HTTPS, also "secure": True
        self.respond(303, "", {"Set-Cookie": cookie["token"].OutputString(), "Location": "/"})

    def viewer(self):
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get("token")
        except CookieError:
            return None
        return gateway.resolve_viewer(cookie and unquote(cookie.value))

    def respond(self, status: int, text: str, headers: dict = {}) -> None:
        kind = "text/html" if text.startswith("<") else "application/json" if text.startswith("{") else "text/plain"
        content = text.encode()
        self.send_response(status)
        common = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(content)), "Cache-Control": "no-store"}
        for name, value in {**common, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), EmbedBackend)
    print(f"listening on http://127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()
