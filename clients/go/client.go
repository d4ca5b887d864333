// Package assay verifies ID Tokens and finishes sign-ins with Assay.
package assay

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options of a client. The zero value is a client of http://127.0.0.1:8080.
type Options struct {
	URL           string        // http://…, https://… or unix:/path
	APIKey        string        // or APIKeyFile
	APIKeyFile    string        // read for each call, so the key can be changed without a restart
	CAFile        string        // CA certificates to trust instead of the system's (PEM)
	Timeout       time.Duration // of an attempt; 6 s by default
	FinishTimeout time.Duration // the same for calls that wait for a provider: Finish, Refresh, Revoke; 12 s by default
	RetryFor      time.Duration // after the call, in which another attempt may start; 5 s by default, negative for none
	Transport     Transport     // instead of HTTP, for tests
}

// Client may be used by many goroutines; make one for the whole program. The error of every call is *Error, unless ctx ended
// between two attempts, or the API key's file can't be read.
//
// A call is sent again only if nothing was used up: because the connection could not be opened, or Assay answered 503 and says
// so; and calls that use nothing up, also after a lost answer. Retry-After is honoured, and no attempt starts later than RetryFor
// after the call. So a call takes at most RetryFor and one timeout.
type Client struct {
	options   Options
	transport Transport
}

// New makes a client. It fails if the URL or CAFile is wrong.
func New(options Options) (*Client, error) {
	if options.APIKey != "" && options.APIKeyFile != "" {
		return nil, errors.New("assay: give either APIKey or APIKeyFile")
	}
	if options.URL == "" {
		options.URL = "http://127.0.0.1:8080"
	}
	defaults := []struct {
		value *time.Duration
		usual time.Duration
	}{{&options.Timeout, 6 * time.Second}, {&options.FinishTimeout, 12 * time.Second}, {&options.RetryFor, 5 * time.Second}}
	for _, each := range defaults {
		if *each.value == 0 {
			*each.value = each.usual
		}
	}
	if options.Transport != nil {
		return &Client{options, options.Transport}, nil
	}
	var config *tls.Config
	if options.CAFile != "" {
		pem, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, err
		}
		config = &tls.Config{RootCAs: x509.NewCertPool()}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("assay: no certificate in %s", options.CAFile)
		}
	}
	transport, err := newTransport(options.URL, config)
	return &Client{options, transport}, err
}

// Begin begins the sign-in of an app.
func (client *Client) Begin(ctx context.Context, provider string, options BeginOptions) (*BegunSignIn, error) {
	var begun BegunSignIn
	members := []any{options, map[string]string{"provider": provider}}
	err := client.call(ctx, "/v1/sign-ins", members, kind{success: 201, into: &begun, whole: func() bool {
		return begun.SignIn != "" && begun.Nonce != "" && begun.NonceSHA256 != "" && begun.ExpiresAt != 0
	}})
	return answered(&begun, err)
}

// BeginInBrowser begins a sign-in in the browser. The client of the provider's settings must list redirectURI.
func (client *Client) BeginInBrowser(ctx context.Context, provider, redirectURI string, options BeginBrowserOptions) (*BegunBrowserSignIn, error) {
	var begun BegunBrowserSignIn
	members := []any{options, map[string]string{"provider": provider, "redirect_uri": redirectURI}}
	err := client.call(ctx, "/v1/sign-ins", members, kind{success: 201, into: &begun, whole: func() bool {
		return begun.SignIn != "" && begun.State != "" && begun.AuthorizationURL != "" && begun.ExpiresAt != 0
	}})
	return answered(&begun, err)
}

// Finish finishes the sign-in of an app. idToken may be empty if there is a code.
func (client *Client) Finish(ctx context.Context, signIn, idToken string, options FinishOptions) (*FinishedSignIn, error) {
	named := map[string]string{"sign_in": signIn}
	if idToken != "" {
		named["id_token"] = idToken
	}
	return client.finish(ctx, []any{options, named})
}

// FinishInBrowser finishes a sign-in in the browser. response has all parameters that redirectURI received.
func (client *Client) FinishInBrowser(ctx context.Context, signIn string, response map[string]string, redirectURI string, options FinishBrowserOptions) (*FinishedSignIn, error) {
	return client.finish(ctx, []any{options, map[string]any{"sign_in": signIn, "response": response, "redirect_uri": redirectURI}})
}

func (client *Client) finish(ctx context.Context, members []any) (*FinishedSignIn, error) {
	var finished FinishedSignIn
	err := client.call(ctx, "/v1/sign-ins/finish", members, kind{usesUp: true, slow: true, into: &finished, whole: func() bool {
		return finished.Identity.whole() && finished.Token != nil && finished.Keys != nil && (finished.Grant == nil || finished.Grant.AccessToken != "")
	}})
	return answered(&finished, err)
}

// Refresh redeems a refresh token. Store Grant.RefreshToken, if there is one, before anything else.
func (client *Client) Refresh(ctx context.Context, provider, refreshToken, subject string, options RefreshOptions) (*Refreshed, error) {
	var refreshed Refreshed
	members := []any{options, map[string]string{"provider": provider, "refresh_token": refreshToken, "subject": subject}}
	err := client.call(ctx, "/v1/grants/refresh", members, kind{usesUp: true, slow: true, into: &refreshed, whole: func() bool {
		isIdentified := refreshed.Identity == nil || refreshed.Identity.whole()
		return refreshed.Grant != nil && refreshed.Grant.AccessToken != "" && isIdentified
	}})
	return answered(&refreshed, err)
}

// Revoke revokes a token. It is safe to revoke one again.
func (client *Client) Revoke(ctx context.Context, provider, token string, options RevokeOptions) error {
	members := []any{options, map[string]string{"provider": provider, "token": token}}
	return client.call(ctx, "/v1/grants/revoke", members, kind{success: 204, slow: true})
}

// RevokeCode exchanges the code of a native sign-in, and revokes its tokens.
func (client *Client) RevokeCode(ctx context.Context, provider, code string, options RevokeCodeOptions) error {
	members := []any{options, map[string]string{"provider": provider, "code": code}}
	return client.call(ctx, "/v1/grants/revoke", members, kind{success: 204, usesUp: true, slow: true})
}

// Proof makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one.
func (client *Client) Proof(ctx context.Context, provider, binding, accessToken, method, target string, options ProofOptions) (*Proof, error) {
	var proof Proof
	named := map[string]string{"provider": provider, "binding": binding, "access_token": accessToken, "method": method, "url": target}
	err := client.call(ctx, "/v1/grants/proof", []any{options, named}, kind{into: &proof, whole: func() bool { return proof.DPoP != "" }})
	return answered(&proof, err)
}

// SignOut is where the user signs out at the provider. End your own session first.
func (client *Client) SignOut(ctx context.Context, provider string, options SignOutOptions) (*SignOut, error) {
	var out SignOut
	err := client.call(ctx, "/v1/sign-outs", []any{options, map[string]string{"provider": provider}}, kind{into: &out, whole: func() bool {
		return out.Endpoint != "" && out.Parameters != nil
	}})
	return answered(&out, err)
}

// Verify verifies an ID Token, without Begin and Finish. nonce is nil only if the sign-in has none.
func (client *Client) Verify(ctx context.Context, idToken string, nonce *string, options VerifyOptions) (*Verified, error) {
	return client.verify(ctx, idToken, nonce, options, false)
}

// VerifyOnce is Verify for a provider that has nonce.single_use in Assay's settings.
func (client *Client) VerifyOnce(ctx context.Context, idToken string, nonce *string, options VerifyOptions) (*Verified, error) {
	return client.verify(ctx, idToken, nonce, options, true)
}

func (client *Client) verify(ctx context.Context, idToken string, nonce *string, options VerifyOptions, once bool) (*Verified, error) {
	named := map[string]string{"id_token": idToken}
	if nonce != nil {
		named["nonce"] = *nonce
	}
	var verified Verified
	err := client.call(ctx, "/v1/verify", []any{options, named}, kind{usesUp: once, into: &verified, whole: func() bool {
		return verified.Identity.whole() && verified.Token != nil && verified.Keys != nil
	}})
	return answered(&verified, err)
}

// VerifyAccessToken verifies an access token that your API got. A DPoP proof can be used once.
func (client *Client) VerifyAccessToken(ctx context.Context, token string, options AccessTokenOptions) (*VerifiedAccessToken, error) {
	var verified VerifiedAccessToken
	usesUp := options.DPoP != nil
	err := client.call(ctx, "/v1/access-tokens/verify", []any{options, map[string]string{"token": token}}, kind{usesUp: usesUp, into: &verified, whole: func() bool {
		isIdentified := verified.Identity == nil || verified.Identity.whole()
		return verified.Token != nil && verified.Authorization != nil && isIdentified
	}})
	return answered(&verified, err)
}

// ResourceMetadata is the metadata of a resource of Assay's settings (RFC 9728). Serve it as it is.
func (client *Client) ResourceMetadata(ctx context.Context, resource string) (json.RawMessage, error) {
	var metadata json.RawMessage
	err := client.call(ctx, "/v1/resources/"+url.PathEscape(resource)+"/metadata", nil, kind{into: &metadata, whole: func() bool {
		var members struct {
			Resource string `json:"resource"`
		}
		return json.Unmarshal(metadata, &members) == nil && members.Resource != ""
	}})
	if err != nil {
		return nil, err
	}
	return metadata, nil
}

// Sent is what a provider sent as a notification: either Token, or Payload, the body that Apple sent.
type Sent struct {
	Token    string          `json:"token,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Provider string          `json:"provider,omitempty"`
	NotificationOptions
}

// String has no secret.
func (Sent) String() string { return "Sent" }

// VerifyNotification verifies what a provider sent.
func (client *Client) VerifyNotification(ctx context.Context, sent Sent) (*VerifiedNotification, error) {
	var verified VerifiedNotification
	err := client.call(ctx, "/v1/notifications/verify", []any{sent}, kind{into: &verified, whole: func() bool {
		return verified.Notification != nil && verified.Notification.ID != "" && verified.Events != nil
	}})
	return answered(&verified, err)
}

func (identity *Identity) whole() bool {
	return identity != nil && identity.Issuer != "" && identity.Subject != ""
}

func answered[Answer any](answer *Answer, err error) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// kind is how a call is sent and read.
type kind struct {
	success int
	usesUp  bool // sent over a new connection, and not again after a lost answer
	slow    bool // Assay may wait for the provider
	into    any
	whole   func() bool
}

func (client *Client) call(ctx context.Context, path string, parts []any, kind kind) error {
	body, err := merge(parts)
	if err != nil {
		return err
	}
	headers, err := client.headers(body)
	if err != nil {
		return err
	}
	timeout, success := client.options.Timeout, kind.success
	if kind.slow {
		timeout = client.options.FinishTimeout
	}
	if success == 0 {
		success = 200
	}
	end := client.transport.Now().Add(client.options.RetryFor)
	for lost := 0; ; {
		var problem *Error
		var wait time.Duration
		reply, err := client.attempt(ctx, path, body, headers, timeout, kind.usesUp)
		var none NoAnswer
		switch {
		case errors.As(err, &none):
			problem = &Error{Detail: none.Detail, Spent: kind.usesUp && none.Sent}
			if lost > 0 {
				wait = 50 * time.Millisecond << min(lost, 5)
			}
			lost++
		case err != nil:
			return err
		case reply.Status == success:
			if kind.into != nil && (json.Unmarshal(reply.Body, kind.into) != nil || !kind.whole()) {
				return &Error{Status: reply.Status, Spent: kind.usesUp}
			}
			return nil
		default:
			problem = read(reply, kind.usesUp)
			if wait = problem.RetryAfter; wait == 0 {
				wait = time.Second
			}
		}
		if !problem.MayRetry() || ctx.Err() != nil || client.transport.Now().Add(wait).After(end) {
			return problem
		}
		if err := client.transport.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (client *Client) attempt(ctx context.Context, path string, body []byte, headers http.Header, timeout time.Duration, once bool) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return client.transport.Send(ctx, path, body, headers, once)
}

func (client *Client) headers(body []byte) (http.Header, error) {
	headers := http.Header{}
	if body != nil {
		headers.Set("Content-Type", "application/json")
	}
	key := client.options.APIKey
	if file := client.options.APIKeyFile; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if key = strings.TrimSpace(string(text)); key == "" {
			return nil, fmt.Errorf("assay: the API key's file %s is empty", file)
		}
	}
	if key != "" {
		headers.Set("Authorization", "Bearer "+key)
	}
	return headers, nil
}

// merge makes one object of the members of several, or no body of none.
func merge(parts []any) ([]byte, error) {
	if parts == nil {
		return nil, nil
	}
	members := map[string]json.RawMessage{}
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &members); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members)
}

func read(reply Reply, usesUp bool) *Error {
	var problem struct {
		Code          string  `json:"code"`
		Detail        string  `json:"detail"`
		RequestID     string  `json:"request_id"`
		Claim         string  `json:"claim"`
		ProviderError string  `json:"provider_error"`
		Context       *string `json:"context"`
		DPoPNonce     string  `json:"dpop_nonce"`
		Spent         *bool   `json:"spent"`
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(reply.Body, &members) != nil || json.Unmarshal(reply.Body, &problem) != nil {
		problem.Code, problem.Spent, members = "", nil, nil
	}
	spent := problem.Spent != nil && *problem.Spent
	if problem.Spent == nil {
		// Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
		isEarly := problem.Code == CodeKeysUnavailable || problem.Code == CodeOverloaded || problem.Code == CodeShuttingDown
		spent = problem.Code == "" || reply.Status == 503 && !isEarly
		// A verification needs the store only for a single-use nonce or a proof.
		usesUp = usesUp || problem.Code == CodeStoreUnavailable
	}
	var challenge *Challenge
	if json.Unmarshal(members["challenge"], &challenge) != nil || challenge != nil && challenge.WWWAuthenticate == "" {
		challenge = nil
	}
	return &Error{
		Status: reply.Status, Code: problem.Code, Detail: problem.Detail, RequestID: problem.RequestID, Spent: usesUp && spent,
		RetryAfter: reply.RetryAfter, Claim: problem.Claim, ProviderError: problem.ProviderError, Context: problem.Context,
		Challenge: challenge, DPoPNonce: problem.DPoPNonce, Members: members,
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
