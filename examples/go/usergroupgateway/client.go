// Package usergroupgateway calls a user group gateway from your backend, and verifies its embed tokens and webhooks:
// copy this file. Go 1.19 or newer, the standard library alone.
//
// Every method returns a *GatewayError when it fails, or the error of its context. Calls that get no response, 503 or
// 429 are sent again; each change has an Idempotency-Key, by which it is made once. Clients and verifiers can be used
// by many goroutines.
package usergroupgateway

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// GatewayError says why a call failed.
type GatewayError struct {
	// One of the gateway's codes, or NETWORK (no complete response), TIMEOUT (none in time), INVALID_RESPONSE (not one
	// of the gateway), INVALID_EMBED_TOKEN, EXPIRED_EMBED_TOKEN, INVALID_WEBHOOK. After NETWORK, TIMEOUT and
	// UNAVAILABLE, a change may have been made: repeat it with the same IdempotencyKey.
	Code    string
	Message string
	// What is wrong with the input.
	Issues []Issue
	// The id under which the gateway logged the request, if it responded.
	RequestID string
	// When to try again, if the gateway says so.
	RetryAfter time.Duration
}

func (e *GatewayError) Error() string { return e.Code + ": " + e.Message }

// Issue is one problem with an input: where it is, as names and indexes, and what it is.
type Issue struct {
	Path    []any  `json:"path"`
	Message string `json:"message"`
}

// UserGroup is a user group; of a viewer, Token is empty. EnvironmentTag is CUSTOMER, TESTING, or empty for untagged.
type UserGroup struct {
	ID             string              `json:"id"`
	TeamID         int                 `json:"teamId"`
	ProvidedID     string              `json:"providedId"`
	Name           string              `json:"name"`
	Mapping        []DataSourceMapping `json:"mapping"`
	Properties     map[string]any      `json:"properties"`
	EnvironmentTag string              `json:"environmentTag"`
	Status         string              `json:"status"`
	Version        int                 `json:"version"`
	Token          string              `json:"token"`
}

// DataSourceMapping maps a schema to its data source.
type DataSourceMapping struct {
	SchemaID   string `json:"schemaId"`
	DataSource string `json:"dataSource"`
}

// By selects a group, by one of its members.
type By struct {
	ID         string `json:"id,omitempty"`
	ProvidedID string `json:"providedId,omitempty"`
	TeamID     int    `json:"teamId,omitempty"`
	Token      string `json:"token,omitempty"`
}

// GetOrCreateInput is the group to create, unless there is one with this id.
type GetOrCreateInput struct {
	ProvidedID     string              `json:"providedId"`
	Name           string              `json:"name,omitempty"`
	Properties     any                 `json:"properties,omitempty"`
	Mapping        []DataSourceMapping `json:"mapping,omitempty"`
	IdempotencyKey string              `json:"-"`
}

// UpdateInput is what to change; what is empty or nil stays as it is. Of Properties that is nil alone: a map that is nil
// clears the properties, and an empty one replaces them. With ExpectedVersion, the Version that you read, a group that
// has another one stays as it is: VERSION_MISMATCH.
type UpdateInput struct {
	By              By                   `json:"by"`
	Name            string               `json:"name,omitempty"`
	Properties      any                  `json:"properties,omitempty"`
	MergeProperties any                  `json:"mergeProperties,omitempty"`
	Mapping         *[]DataSourceMapping `json:"mapping,omitempty"`
	ExpectedVersion *int                 `json:"expectedVersion,omitempty"`
	IdempotencyKey  string               `json:"-"`
}

// RotateTokenInput is the token to replace, and how long it still works.
type RotateTokenInput struct {
	CurrentToken   string `json:"currentToken"`
	GraceSeconds   int    `json:"graceSeconds,omitempty"`
	IdempotencyKey string `json:"-"`
}

// EmbedTokenInput is the group, and what its embed token says. Without an Audience or an Origin, which is what an empty
// one means, the token does not say it; ExpiresInSeconds 0 means the gateway's default, 900. Of Resources, an empty list
// opens nothing, and nil does not say what the token opens.
type EmbedTokenInput struct {
	By                By       `json:"by"`
	Audience          string   `json:"audience,omitempty"`
	ExpiresInSeconds  int      `json:"expiresInSeconds,omitempty"`
	Viewer            *Viewer  `json:"viewer,omitempty"`
	Resources         []string `json:"resources"`
	Origin            string   `json:"origin,omitempty"`
	IncludeProperties bool     `json:"includeProperties,omitempty"`
}

// Viewer is who views within a group.
type Viewer struct {
	ID         string         `json:"id"`
	Name       string         `json:"name,omitempty"`
	Email      string         `json:"email,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

// EmbedToken is a signed token for a page.
type EmbedToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Client calls a gateway.
type Client struct {
	// The limit of a call, with all retries and the pauses between them.
	Timeout time.Duration
	// How often a call is sent again at most.
	Retries       int
	endpoint      string
	authorization string
}

// Redirects are not followed: they would take the API token elsewhere.
var httpClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// New creates a client with a timeout of 30 seconds and 3 retries.
func New(gatewayURL, apiToken string) (*Client, error) {
	if parsed, err := url.Parse(gatewayURL); err != nil || parsed.Host == "" || parsed.User != nil {
		return nil, errors.New("the URL of the gateway must begin with http:// or https://, and have a host, but no user")
	}
	if !regexp.MustCompile(`^[\x21-\x7e]+$`).MatchString(apiToken) {
		return nil, errors.New("the API token must be printable characters without spaces or line breaks")
	}
	endpoint := strings.TrimRight(gatewayURL, "/") + "/graphql"
	return &Client{Timeout: 30 * time.Second, Retries: 3, endpoint: endpoint, authorization: "Token " + apiToken}, nil
}

const (
	viewerSelection = "id teamId providedId name mapping { schemaId dataSource } properties environmentTag status version"
	groupSelection  = "userGroup { " + viewerSelection + " token }"
	resolve         = "query ResolveViewer($token: String!) { result: userGroup(by: { token: $token }) { " + viewerSelection + " } }"
	failure         = "... on Error { code message } ... on InvalidInput { issues { path message } }"
)

// ResolveViewer returns the group that views with a token; nil if it identifies none, whatever a browser sent. Needs
// the scope groups:resolve.
func (c *Client) ResolveViewer(ctx context.Context, token string) (*UserGroup, error) {
	if len(token) > 4_000 || !utf8.ValidString(token) {
		return nil, nil // no token is like that
	}
	var found *UserGroup
	err := c.send(ctx, resolve, map[string]string{"token": token}, "", &found)
	var failed *GatewayError
	if errors.As(err, &failed) {
		for _, issue := range failed.Issues {
			if fmt.Sprint(issue.Path) == "[by token]" {
				return nil, nil
			}
		}
	}
	return found, err
}

// GetOrCreate returns the group with an id, and whether it was created. It never changes an existing one. Needs the
// scope groups:write.
func (c *Client) GetOrCreate(ctx context.Context, input GetOrCreateInput) (group UserGroup, created bool, err error) {
	var result struct {
		UserGroup UserGroup
		Created   bool
	}
	err = c.change(ctx, "GetOrCreateUserGroup", "created "+groupSelection, input, input.IdempotencyKey, &result, input.Properties)
	return result.UserGroup, result.Created, err
}

// Update changes a group. Needs the scope groups:write.
func (c *Client) Update(ctx context.Context, input UpdateInput) (UserGroup, error) {
	var result struct{ UserGroup UserGroup }
	err := c.change(ctx, "UpdateUserGroup", groupSelection, input, input.IdempotencyKey, &result, input.Properties, input.MergeProperties)
	return result.UserGroup, err
}

// RotateToken replaces a token. It returns the group with its new one, and until when the old one works; nil if it
// does not. Needs the scope groups:write.
func (c *Client) RotateToken(ctx context.Context, input RotateTokenInput) (UserGroup, *time.Time, error) {
	var result struct {
		UserGroup              UserGroup
		PreviousTokenExpiresAt *time.Time
	}
	selection := groupSelection + " previousTokenExpiresAt"
	err := c.change(ctx, "RotateUserGroupToken", selection, input, input.IdempotencyKey, &result)
	return result.UserGroup, result.PreviousTokenExpiresAt, err
}

// CreateEmbedToken creates a signed token that identifies a group until it expires. Needs the scope embed:sign.
func (c *Client) CreateEmbedToken(ctx context.Context, input EmbedTokenInput) (EmbedToken, error) {
	var result EmbedToken
	// Without a key: the gateway would return a token again that may have expired.
	err := c.send(ctx, mutation("CreateEmbedToken", "token expiresAt"), map[string]any{"input": input}, "", &result)
	return result, err
}

func mutation(name, selection string) string {
	field := strings.ToLower(name[:1]) + name[1:]
	return "mutation " + name + "($input: " + name + "Input!) { result: " + field + "(input: $input) { ... on " + name + "Payload { " +
		selection + " } " + failure + " } }"
}

// seesNothing says whether encoding/json sees no field of a struct, because none is exported.
func seesNothing(value any) bool {
	kind := reflect.TypeOf(value)
	for kind != nil && kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if _, isMarshaler := value.(json.Marshaler); isMarshaler || kind == nil || kind.Kind() != reflect.Struct {
		return false
	}
	for _, field := range reflect.VisibleFields(kind) {
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		isPromoted := field.Anonymous && embedded.Kind() == reflect.Struct // its fields follow
		if field.IsExported() && !isPromoted && field.Tag.Get("json") != "-" {
			return false
		}
	}
	return kind.NumField() > 0
}

func (c *Client) change(ctx context.Context, name, selection string, input any, key string, result any, properties ...any) error {
	for _, each := range properties {
		if seesNothing(each) {
			return errors.New("the properties have no exported fields: encoding/json would write {}")
		}
	}
	if key == "" {
		key = hex.EncodeToString(random(16))
	}
	if !regexp.MustCompile(`^[\x20-\x7e]{1,255}$`).MatchString(key) {
		return errors.New("the idempotency key must be 1 to 255 printable ASCII characters")
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	return c.send(ctx, mutation(name, selection), map[string]any{"input": input}, quoted, result)
}

func random(length int) []byte {
	bytes := make([]byte, length)
	if _, err := rand.Read(bytes); err != nil {
		panic(err) // the system has no random numbers
	}
	return bytes
}

// send sends an operation until there is a result.
func (c *Client) send(ctx context.Context, query string, variables any, key string, result any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	// encoding/json replaces what is not UTF-8: two ids could become one.
	if bytes.Contains(bytes.ReplaceAll(body, []byte(`\\`), nil), []byte(`\ufffd`)) {
		return errors.New("a text is not valid UTF-8")
	}
	deadline := time.Now().Add(c.Timeout)
	var uncertain *GatewayError // the latest after which it is not known whether the change was made
	for attempt := 1; ; attempt++ {
		isLast := attempt > c.Retries
		limit := time.Until(deadline)
		if !isLast {
			limit /= 2 // so that a request that gets no response can be sent again
		}
		failed := c.exchange(ctx, body, key, limit, result)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed == nil {
			return nil
		}
		pause := failed.RetryAfter
		if pause == 0 {
			pause = 50 * time.Millisecond << attempt
		}
		pause += pause / 512 * time.Duration(random(1)[0])
		if key != "" && isUncertain(failed) {
			uncertain = failed
		}
		if !repeated[failed.Code] || isLast || time.Until(deadline) <= pause {
			if uncertain != nil && (repeated[failed.Code] || unrelated[failed.Code]) {
				return uncertain
			}
			return failed
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Errors after which the same request is sent again.
var repeated = map[string]bool{
	"NETWORK": true, "TIMEOUT": true, "UNAVAILABLE": true, "RATE_LIMITED": true, "IDEMPOTENCY_KEY_IN_USE": true,
}

// Further errors that say nothing of an earlier request for the same change.
var unrelated = map[string]bool{
	"UNAUTHENTICATED": true, "FORBIDDEN": true, "INTERNAL": true, "REQUEST_TIMEOUT": true, "INVALID_RESPONSE": true,
}

// isUncertain says whether a change may have been made that failed so.
func isUncertain(failed *GatewayError) bool {
	return failed.Code == "NETWORK" || failed.Code == "TIMEOUT" ||
		failed.Code == "UNAVAILABLE" && !strings.Contains(failed.Message, "Nothing was changed")
}

// exchange sends a request, and decodes the result of the operation.
func (c *Client) exchange(ctx context.Context, body []byte, key string, limit time.Duration, result any) *GatewayError {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return &GatewayError{Code: "NETWORK", Message: err.Error()}
	}
	request.GetBody = nil // net/http would send the request again by itself, more often than Retries
	request.Header.Set("Authorization", c.authorization)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	status, header, content, err := fetch(request)
	if err != nil {
		code := "NETWORK"
		if ctx.Err() != nil {
			code = "TIMEOUT"
		}
		return &GatewayError{Code: code, Message: "no complete response: " + err.Error()}
	}
	failed := read(status, content, result)
	if failed != nil {
		failed.RequestID = header.Get("X-Request-Id")
		// A proxy may send a date; at most, this is 136 years.
		if seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 32); err == nil {
			failed.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	return failed
}

func fetch(request *http.Request) (int, http.Header, []byte, error) {
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, content, err
}

// read decodes a response into the result, or an error.
func read(status int, content []byte, result any) *GatewayError {
	var body struct {
		Data   struct{ Result json.RawMessage }
		Errors []struct {
			Message    string
			Extensions struct {
				Code   string
				Issues []Issue
			}
		}
	}
	err := json.Unmarshal(content, &body)
	hasErrors := len(body.Errors) > 0
	if err == nil && hasErrors && isOfGateway(body.Errors[0].Extensions.Code, status) {
		first := body.Errors[0]
		return &GatewayError{Code: first.Extensions.Code, Message: first.Message, Issues: first.Extensions.Issues}
	}
	_, isLookUp := result.(**UserGroup) // null is nobody; a change has a result
	if err == nil && !hasErrors && status/100 == 2 && body.Data.Result != nil && (isLookUp || string(body.Data.Result) != "null") {
		var refused GatewayError // an error type of a mutation
		if json.Unmarshal(body.Data.Result, &refused) == nil && refused.Code != "" {
			return &refused
		}
		if json.Unmarshal(body.Data.Result, result) == nil {
			return nil
		}
	}
	message := fmt.Sprintf("the response, with status %d, is not one of the gateway: it was cut off, or a proxy sent it", status)
	code := "INVALID_RESPONSE"
	switch {
	case status == 429:
		code = "RATE_LIMITED"
	case status == 408 || status >= 500:
		code = "UNAVAILABLE"
	case status >= 200 && status <= 299:
		code = "NETWORK"
	}
	return &GatewayError{Code: code, Message: message}
}

// WebhookEvent says what happened, and to what. ProvidedID and TeamID are empty for what is not a group.
type WebhookEvent struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		ID          string   `json:"id"`
		ProvidedID  string   `json:"provided_id"`
		TeamID      int      `json:"team_id"`
		Environment string   `json:"environment"`
		Changed     []string `json:"changed"`
	} `json:"data"`
}

// VerifyWebhook returns the event of a webhook, if the holder of the secret sent it within 5 minutes of now (Standard
// Webhooks 1.0.0). The secret is whsec_…, as the gateway showed it; the body is as it arrived. A webhook may arrive
// more than once, with the same header webhook-id.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) (*WebhookEvent, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, errors.New("the secret must be as the gateway showed it: whsec_ and base64")
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return nil, &GatewayError{Code: "INVALID_WEBHOOK", Message: "it was not sent within the last 5 minutes"}
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	own := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	isGenuine := false
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		isGenuine = isGenuine || hmac.Equal(own, []byte(given))
	}
	if id == "" || !isGenuine {
		return nil, &GatewayError{Code: "INVALID_WEBHOOK", Message: "no signature is of this secret and this body"}
	}
	var event WebhookEvent
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, &GatewayError{Code: "INVALID_WEBHOOK", Message: "the body is not an event: " + err.Error()}
	}
	return &event, nil
}

// EmbedTokenClaims is what an embed token says. Times are in seconds since 1970.
type EmbedTokenClaims struct {
	Issuer     string         `json:"iss"`
	ProvidedID string         `json:"sub"`
	Audience   string         `json:"aud"`
	IssuedAt   int64          `json:"iat"`
	NotBefore  int64          `json:"nbf"`
	ExpiresAt  int64          `json:"exp"`
	ID         string         `json:"jti"`
	TeamID     int            `json:"team_id"`
	Env        string         `json:"env"`
	Viewer     *Viewer        `json:"viewer"`
	Resources  []string       `json:"resources"`
	Origin     string         `json:"origin"`
	Properties map[string]any `json:"properties"`
}

// EmbedTokenVerifier verifies embed tokens without a request for each: signature (EdDSA only), issuer, audience and
// times. It fetches the public keys when they are first needed, every 5 minutes, and for an unknown key, at most every
// 30 seconds; while the gateway does not respond, it uses them for up to an hour.
type EmbedTokenVerifier struct {
	// The PUBLIC_URL of the gateway, followed by /customer, /testing or /untagged.
	Issuer string
	// The URL of the public keys: that of the gateway, followed by /.well-known/jwks.json.
	JWKS string
	// The audience that tokens must have; empty for tokens without one.
	Audience string
	// The clock; time.Now if it is nil.
	Now func() time.Time

	keys     atomic.Pointer[keySet]
	fetching sync.Mutex // guards what follows
	triedAt  time.Time
	failure  error
}

type keySet struct {
	keys      map[string]ed25519.PublicKey
	fetchedAt time.Time
}

// The signature has 64 bytes.
var compactJWT = regexp.MustCompile(`^([\w-]+)\.([\w-]+)\.([\w-]{86})$`)

// Verify returns what a token says. The error is INVALID_EMBED_TOKEN or EXPIRED_EMBED_TOKEN if it is not accepted, and
// NETWORK if the keys are not known.
func (v *EmbedTokenVerifier) Verify(token string) (*EmbedTokenClaims, error) {
	now := time.Now()
	if v.Now != nil {
		now = v.Now()
	}
	parts := compactJWT.FindStringSubmatch(token)
	var header struct {
		Alg, Typ, Kid string
		Crit          json.RawMessage
	}
	if parts == nil || decode(parts[1], &header) != nil || header.Alg != "EdDSA" || header.Typ != "JWT" || header.Crit != nil {
		return nil, invalidToken("is no embed token")
	}
	key, err := v.key(header.Kid, now)
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	if err != nil || !ed25519.Verify(key, []byte(parts[1]+"."+parts[2]), signature) {
		return nil, invalidToken("has a wrong signature")
	}
	claims := EmbedTokenClaims{NotBefore: math.MaxInt64} // a token that does not say it is not valid
	switch err := decode(parts[2], &claims); {
	case err != nil:
		return nil, invalidToken("has other claims: " + err.Error())
	case claims.Issuer != v.Issuer:
		return nil, invalidToken("is not from " + v.Issuer + ": see its claim iss")
	case claims.Audience != v.Audience:
		return nil, invalidToken("has another audience")
	case claims.NotBefore > now.Unix()+60: // the clocks of gateway and verifier differ
		return nil, invalidToken("is not valid yet")
	case claims.ExpiresAt <= now.Unix():
		return nil, &GatewayError{Code: "EXPIRED_EMBED_TOKEN", Message: "the embed token has expired"}
	}
	return &claims, nil
}

func invalidToken(what string) error {
	return &GatewayError{Code: "INVALID_EMBED_TOKEN", Message: "the token " + what}
}

func decode(part string, value any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// key returns the public key with an id.
func (v *EmbedTokenVerifier) key(kid string, now time.Time) (ed25519.PublicKey, error) {
	find := func(maxAge time.Duration) ed25519.PublicKey {
		// Never negative: after the clock was set back, keys would else stay fresh.
		if set := v.keys.Load(); set != nil && now.Sub(set.fetchedAt).Abs() < maxAge {
			return set.keys[kid]
		}
		return nil
	}
	if key := find(5 * time.Minute); key != nil {
		return key, nil
	}
	v.fetching.Lock()
	defer v.fetching.Unlock()
	if find(5*time.Minute) == nil && now.Sub(v.triedAt).Abs() >= 30*time.Second {
		keys, err := fetchKeys(v.JWKS)
		v.triedAt, v.failure = now, err
		if err == nil {
			v.keys.Store(&keySet{keys, now})
		}
	}
	if key := find(time.Hour); key != nil {
		return key, nil
	}
	if v.failure != nil {
		return nil, v.failure
	}
	return nil, invalidToken("has an unknown key")
}

func fetchKeys(jwks string) (map[string]ed25519.PublicKey, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, jwks, nil)
	if err != nil {
		return nil, &GatewayError{Code: "NETWORK", Message: err.Error()}
	}
	status, _, content, err := fetch(request)
	var set struct {
		Keys []struct{ Kid, Kty, Crv, X string }
	}
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(content, &set)
	}
	if err != nil || status != http.StatusOK || set.Keys == nil {
		return nil, &GatewayError{Code: "NETWORK", Message: fmt.Sprintf("no public keys from %s: status %d, %v", jwks, status, err)}
	}
	keys := map[string]ed25519.PublicKey{}
	for _, key := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(key.X)
		if key.Kty == "OKP" && key.Crv == "Ed25519" && err == nil && len(x) == ed25519.PublicKeySize {
			keys[key.Kid] = x
		}
	}
	return keys, nil
}

// isOfGateway tells an error of the gateway from one of a proxy, which has no code, or one that the gateway does not have.
func isOfGateway(code string, status int) bool {
	return code != "" && (status < 500 || code == "UNAVAILABLE" || code == "INTERNAL")
}
