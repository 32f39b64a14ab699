// Command conformance executes a case of client/conformance, from standard input, with the Go client, and prints what
// came of each call.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"example.com/embed-backend/usergroupgateway"
)

type call struct {
	Operation      string
	Arguments      json.RawMessage
	IdempotencyKey string
	At             int64
}

type testCase struct {
	URL, APIToken      string
	TimeoutMs, Retries int
	Options            struct {
		Verifier struct{ Issuer, JWKS, Audience string }
	}
	Calls []call
}

type object = map[string]any

// neutral has null where the client has an empty string.
func neutral(group usergroupgateway.UserGroup) object {
	text, _ := json.Marshal(group)
	var members object
	json.Unmarshal(text, &members)
	if group.EnvironmentTag == "" {
		members["environmentTag"] = nil
	}
	return members
}

func neutralTime(at *time.Time) any {
	if at == nil {
		return nil
	}
	return at.Format("2006-01-02T15:04:05.000Z07:00")
}

func execute(each testCase, verifier *usergroupgateway.EmbedTokenVerifier, call call) (any, error) {
	ctx := context.Background()
	client, err := usergroupgateway.New(each.URL, each.APIToken)
	if err != nil {
		return nil, err
	}
	client.Timeout, client.Retries = time.Duration(each.TimeoutMs)*time.Millisecond, each.Retries
	switch call.Operation {
	case "resolveViewer":
		var given struct{ Token string }
		json.Unmarshal(call.Arguments, &given)
		viewer, err := client.ResolveViewer(ctx, given.Token)
		if viewer == nil {
			return nil, err
		}
		return neutral(*viewer), err
	case "getOrCreate":
		given := usergroupgateway.GetOrCreateInput{IdempotencyKey: call.IdempotencyKey}
		json.Unmarshal(call.Arguments, &given)
		group, created, err := client.GetOrCreate(ctx, given)
		return object{"userGroup": neutral(group), "created": created}, err
	case "update":
		given := usergroupgateway.UpdateInput{IdempotencyKey: call.IdempotencyKey}
		json.Unmarshal(call.Arguments, &given)
		group, err := client.Update(ctx, given)
		return object{"userGroup": neutral(group)}, err
	case "rotateToken":
		given := usergroupgateway.RotateTokenInput{IdempotencyKey: call.IdempotencyKey}
		json.Unmarshal(call.Arguments, &given)
		group, expiresAt, err := client.RotateToken(ctx, given)
		return object{"userGroup": neutral(group), "previousTokenExpiresAt": neutralTime(expiresAt)}, err
	case "createEmbedToken":
		var given usergroupgateway.EmbedTokenInput
		json.Unmarshal(call.Arguments, &given)
		created, err := client.CreateEmbedToken(ctx, given)
		return object{"token": created.Token, "expiresAt": neutralTime(&created.ExpiresAt)}, err
	case "verifyWebhook":
		var given struct {
			Secret, Body string
			Headers      map[string]string
		}
		json.Unmarshal(call.Arguments, &given)
		header := http.Header{}
		for name, value := range given.Headers {
			header.Set(name, value)
		}
		return usergroupgateway.VerifyWebhook(given.Secret, header, []byte(given.Body), time.Unix(call.At, 0))
	case "verifyEmbedToken":
		var given struct{ Token string }
		json.Unmarshal(call.Arguments, &given)
		verifier.Now = func() time.Time { return time.Unix(call.At, 0) }
		return verifier.Verify(given.Token)
	}
	panic("the client has no " + call.Operation)
}

func outcomeOf(result any, err error) object {
	var failed *usergroupgateway.GatewayError
	if errors.As(err, &failed) {
		members := object{"code": failed.Code, "message": failed.Message, "issues": []any{}, "requestId": failed.RequestID}
		if failed.Issues != nil {
			members["issues"] = failed.Issues
		}
		if failed.RetryAfter != 0 {
			members["retryAfterSeconds"] = failed.RetryAfter.Seconds()
		}
		return object{"error": members}
	}
	if err != nil {
		return object{"usageError": true}
	}
	return object{"result": result}
}

func main() {
	var each testCase
	if err := json.NewDecoder(os.Stdin).Decode(&each); err != nil {
		panic(err)
	}
	given := each.Options.Verifier
	verifier := &usergroupgateway.EmbedTokenVerifier{Issuer: given.Issuer, JWKS: given.JWKS, Audience: given.Audience}
	outcomes := []object{}
	for _, call := range each.Calls {
		startedAt := time.Now()
		outcome := outcomeOf(execute(each, verifier, call))
		outcome["elapsedMs"] = float64(time.Since(startedAt).Microseconds()) / 1000
		outcomes = append(outcomes, outcome)
	}
	json.NewEncoder(os.Stdout).Encode(outcomes)
}
