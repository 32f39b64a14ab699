// Command embed-backend is an embed backend: a page that shows which user group is viewing, and gets embed tokens for
// the data of its dashboard.
//
//	GATEWAY=http://127.0.0.1:4000 API_TOKEN=ugk_… go run .
package main

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/embed-backend/usergroupgateway"
)

var page = template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><title>Dashboard</title><link rel="icon" href="data:,">
<h1>Dashboard of {{.Name}}</h1><pre id="data"></pre>
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
</script>`))

const signIn = `<!doctype html><html lang="en"><title>Sign in</title>
<form method="post" action="/sign-in"><label>User group token <input name="token"></label> <button>Sign in</button></form>`

type backend struct {
	gateway  *usergroupgateway.Client
	verifier *usergroupgateway.EmbedTokenVerifier
}

// viewer is the user group that views; nil if there is none.
func (b *backend) viewer(request *http.Request) (*usergroupgateway.UserGroup, error) {
	cookie, err := request.Cookie("token")
	if err != nil {
		return nil, nil
	}
	token, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return nil, nil
	}
	return b.gateway.ResolveViewer(request.Context(), token)
}

func (b *backend) showPage(response http.ResponseWriter, request *http.Request) error {
	viewer, err := b.viewer(request)
	if err != nil {
		return err
	}
	response.Header().Set("Content-Type", "text/html; charset=utf-8")
	if viewer == nil {
		response.WriteHeader(http.StatusUnauthorized)
		_, err = response.Write([]byte(signIn))
		return err
	}
	return page.Execute(response, viewer)
}

func (b *backend) createEmbedToken(response http.ResponseWriter, request *http.Request) error {
	viewer, err := b.viewer(request)
	if err != nil {
		return err
	}
	if viewer == nil {
		http.Error(response, "Sign in first.", http.StatusUnauthorized)
		return nil
	}
	input := usergroupgateway.EmbedTokenInput{By: usergroupgateway.By{ID: viewer.ID}, Audience: b.verifier.Audience}
	token, err := b.gateway.CreateEmbedToken(request.Context(), input)
	if err != nil {
		return err
	}
	response.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(response).Encode(token)
}

// sendData stands for the service that has the data of the dashboards.
func (b *backend) sendData(response http.ResponseWriter, request *http.Request) error {
	claims, err := b.verifier.Verify(strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		return err
	}
	response.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(response).Encode(map[string]string{"sales_of": claims.ProvidedID})
}

// signIn stands for the sign-in of your application, which knows the group of its user and the token of the group.
func (b *backend) signIn(response http.ResponseWriter, request *http.Request) error {
	if request.Method != http.MethodPost {
		http.NotFound(response, request)
		return nil
	}
	// A cookie cannot have every character that a token of an imported group may have.
	token := url.QueryEscape(request.PostFormValue("token"))
	cookie := http.Cookie{Name: "token", Value: token, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	http.SetCookie(response, &cookie) // with HTTPS, also Secure
	http.Redirect(response, request, "/", http.StatusSeeOther)
	return nil
}

// handle responds to errors: when it is not known who is viewing, nothing is shown.
func handle(run func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Cache-Control", "no-store")
		err := run(response, request)
		var failed *usergroupgateway.GatewayError
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			log.Print(err) // the browser has gone
		case !errors.As(err, &failed):
			log.Print(err)
			http.Error(response, "Something went wrong.", http.StatusInternalServerError)
		case failed.Code == "NOT_FOUND" || failed.Code == "SUSPENDED": // a moment ago
			http.Error(response, "Sign in again.", http.StatusUnauthorized)
		case strings.HasSuffix(failed.Code, "_EMBED_TOKEN"):
			http.Error(response, failed.Message, http.StatusUnauthorized)
		default:
			log.Printf("%v (request %s)", err, failed.RequestID)
			response.Header().Set("Retry-After", strconv.Itoa(int(failed.RetryAfter.Seconds())+1))
			http.Error(response, "Try again later.", http.StatusServiceUnavailable)
		}
	}
}

func main() {
	url, port := os.Getenv("GATEWAY"), os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	gateway, err := usergroupgateway.New(url, os.Getenv("API_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	gateway.Timeout = 5 * time.Second
	// The gateway at its PUBLIC_URL, with groups of the Testing environment.
	verifier := &usergroupgateway.EmbedTokenVerifier{
		Issuer: url + "/testing", JWKS: url + "/.well-known/jwks.json", Audience: "dashboards",
	}
	b := &backend{gateway, verifier}
	http.HandleFunc("/", handle(b.showPage))
	http.HandleFunc("/embed-token", handle(b.createEmbedToken))
	http.HandleFunc("/data", handle(b.sendData))
	http.HandleFunc("/sign-in", handle(b.signIn))
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
