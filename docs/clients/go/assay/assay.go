// Package assay signs users in with Assay. Go 1.19 or later, standard library only.
package assay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
)

// Identity is who signed in. Issuer and Subject together are the key under which to store the user.
type Identity struct {
	Provider          string  `json:"provider"`
	Issuer            string  `json:"issuer"`
	Subject           string  `json:"subject"`
	Email             *string `json:"email"`
	EmailVerified     *bool   `json:"email_verified"`
	EmailTrust        *string `json:"email_trust"`
	IsPrivateEmail    *bool   `json:"is_private_email"`
	Name              *string `json:"name"`
	GivenName         *string `json:"given_name"`
	FamilyName        *string `json:"family_name"`
	NameSource        *string `json:"name_source"`
	PreferredUsername *string `json:"preferred_username"`
	Picture           *string `json:"picture"`
	Locale            *string `json:"locale"`
	RealUserStatus    *string `json:"real_user_status"`
	TransferSubject   *string `json:"transfer_subject"`
	Tenant            *string `json:"tenant"`
	HostedDomain      *string `json:"hosted_domain"`
}

// BeginRequest has the parameters of the sign-in; only Provider is required.
type BeginRequest struct {
	Provider  string  `json:"provider"`
	Audience  string  `json:"audience,omitempty"`
	MaxAge    *int    `json:"max_age,omitempty"`
	Subject   *string `json:"subject,omitempty"` // the only user who can finish it
	Issuer    *string `json:"issuer,omitempty"`  // the issuer of Subject
	Context   string  `json:"context,omitempty"` // the finish returns it
	ExpiresIn int     `json:"expires_in,omitempty"`
}

// BeginBrowserRequest has the parameters of a sign-in in the browser. RedirectURI is one of the client's redirect_uris in Assay's
// settings.
type BeginBrowserRequest struct {
	BeginRequest
	RedirectURI  string   `json:"redirect_uri"`
	Scopes       []string `json:"scopes,omitempty"`
	Prompt       string   `json:"prompt,omitempty"`
	LoginHint    string   `json:"login_hint,omitempty"`
	UILocales    string   `json:"ui_locales,omitempty"`
	ACRValues    string   `json:"acr_values,omitempty"`
	ResponseMode string   `json:"response_mode,omitempty"`
}

// BegunSignIn is a sign-in to be finished before ExpiresAt, in Unix seconds. The app gives the provider NonceSHA256 or Nonce.
//
// SignIn stays with this one app or browser, in the app's memory or in a __Host- cookie. Never log it, put it into a URL,
// or look it up by a value from a request.
type BegunSignIn struct {
	SignIn      string `json:"sign_in"`
	Nonce       string `json:"nonce"`
	NonceSHA256 string `json:"nonce_sha256"`
	ExpiresAt   int64  `json:"expires_at"`
}

// String has no secret.
func (begun BegunSignIn) String() string { return fmt.Sprintf("sign-in until %d", begun.ExpiresAt) }

// BegunBrowserSignIn is a sign-in to be finished before ExpiresAt, in Unix seconds. Redirect the browser to AuthorizationURL.
//
// SignIn stays with this one browser, in a __Host- cookie whose name ends in State. Never log it or put it into a URL.
type BegunBrowserSignIn struct {
	SignIn           string `json:"sign_in"`
	State            string `json:"state"`
	AuthorizationURL string `json:"authorization_url"`
	ExpiresAt        int64  `json:"expires_at"`
}

// String has no secret.
func (begun BegunBrowserSignIn) String() string {
	return fmt.Sprintf("sign-in until %d", begun.ExpiresAt)
}

// FinishRequest has the sign_in that the app kept, and the provider's ID Token, code, or both.
type FinishRequest struct {
	SignIn      string          `json:"sign_in"`
	IDToken     string          `json:"id_token,omitempty"`
	AccessToken string          `json:"access_token,omitempty"`
	Code        string          `json:"code,omitempty"`
	RedirectURI string          `json:"redirect_uri,omitempty"` // that the app got the code with, if any
	User        json.RawMessage `json:"user,omitempty"`         // Apple's, at a user's first sign-in
}

// String has no secret.
func (FinishRequest) String() string { return "finish of a sign-in" }

// FinishBrowserRequest has the cookie's sign_in, and all parameters that the redirect URI received.
type FinishBrowserRequest struct {
	SignIn      string            `json:"sign_in"`
	Response    map[string]string `json:"response"`
	RedirectURI string            `json:"redirect_uri,omitempty"` // that received them
}

// String has no secret.
func (FinishBrowserRequest) String() string { return "finish of a sign-in" }

// FinishedSignIn says to sign this user in. Context is the begin call's; Grant is there if a code was
// exchanged.
type FinishedSignIn struct {
	Identity *Identity `json:"identity"`
	Context  *string   `json:"context"`
	Grant    *Grant    `json:"grant"`
}

// Grant has the provider's tokens, for the backend only: never log them, or send them to an app or a page.
//
// Store a refresh token with the provider, audience, issuer and subject of its sign-in. If RefreshToken is nil after a
// refresh, the old one stays valid. If Scopes is nil, the provider granted those that were requested.
type Grant struct {
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresAt    *int64   `json:"expires_at"`
	RefreshToken *string  `json:"refresh_token"`
	Scopes       []string `json:"scopes"`
	IDToken      *string  `json:"id_token"`
}

// String has no secret.
func (Grant) String() string { return "grant" }

// RefreshRequest has the values that you stored with the refresh token. Audience is required if the provider has several clients.
type RefreshRequest struct {
	Provider     string   `json:"provider"`
	RefreshToken string   `json:"refresh_token"`
	Subject      string   `json:"subject"`
	Issuer       *string  `json:"issuer,omitempty"`
	Audience     string   `json:"audience,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// String has no secret.
func (RefreshRequest) String() string { return "refresh of a grant" }

// Refreshed says to store the new refresh token, if there is one, before anything else: the old one may be used up.
//
// Identity is nil if the provider sent no ID Token, or if Assay has no keys to verify it: then Problem is keys_unavailable.
type Refreshed struct {
	Grant    *Grant
	Identity *Identity
	Problem  string
}

// RevokeRequest has a token. Audience is required if the provider has several clients.
type RevokeRequest struct {
	Provider      string `json:"provider"`
	Token         string `json:"token"`
	TokenTypeHint string `json:"token_type_hint,omitempty"`
	Audience      string `json:"audience,omitempty"`
}

// String has no secret.
func (RevokeRequest) String() string { return "revocation of a token" }

// RevokeByCodeRequest has a code from the app. With Subject, a code of another user is refused.
type RevokeByCodeRequest struct {
	Provider    string  `json:"provider"`
	Code        string  `json:"code"`
	RedirectURI string  `json:"redirect_uri,omitempty"`
	Audience    string  `json:"audience,omitempty"`
	Subject     *string `json:"subject,omitempty"`
	Issuer      *string `json:"issuer,omitempty"`
}

// String has no secret.
func (RevokeByCodeRequest) String() string { return "revocation by code" }

// SignIn has the values that the app sent, and the nonce that this backend generated for it: for Verify, without Begin and Finish.
type SignIn struct {
	Provider           string          `json:"provider"`
	IDToken            string          `json:"id_token"`
	Nonce              *string         `json:"nonce,omitempty"` // nil only where the provider knows none
	Audience           string          `json:"audience,omitempty"`
	MaxAge             *int            `json:"max_age,omitempty"`
	AccessToken        string          `json:"access_token,omitempty"`
	Code               string          `json:"code,omitempty"`
	User               json.RawMessage `json:"user,omitempty"` // Apple's, at a user's first sign-in
	Subject            *string         `json:"subject,omitempty"`
	Issuer             *string         `json:"issuer,omitempty"`
	AuthenticatedAfter *int64          `json:"authenticated_after,omitempty"`
}

// NotificationRequest is a provider's notification: either Token, or Payload, the body that Apple sent.
type NotificationRequest struct {
	Token    string          `json:"token,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Provider string          `json:"provider,omitempty"`
}

// Event is what happened. Subject is the user's, as in Identity; Data has the rest of the event.
type Event struct {
	Type           string          `json:"type"`
	Subject        *string         `json:"subject"`
	SessionID      *string         `json:"session_id"`
	Email          *string         `json:"email"`
	IsPrivateEmail *bool           `json:"is_private_email"`
	OccurredAt     *int64          `json:"occurred_at"`
	Reason         *string         `json:"reason"`
	Data           json.RawMessage `json:"data"`
}

// Notification is a verified notification. Provider and ID together are the same for repeated deliveries.
type Notification struct {
	Provider string  `json:"provider"`
	Issuer   string  `json:"issuer"`
	Kind     string  `json:"kind"`
	ID       string  `json:"id"`
	IssuedAt int64   `json:"issued_at"`
	Events   []Event `json:"-"`
}

// Refused says to sign nobody in: this token will be refused every time.
type Refused struct {
	Code      string
	Claim     string // the claim that is missing or invalid, if one is
	RequestID string
}

func (refused *Refused) Error() string {
	return fmt.Sprintf("assay: refused: %s, request %s", refused.Code, refused.RequestID)
}

// Unavailable says that Assay cannot decide now. Unless the nonce is single-use, the same request may succeed later.
type Unavailable struct {
	RetryAfter time.Duration
}

func (unavailable *Unavailable) Error() string { return "assay: unavailable" }

// Error is a problem. Without a response, Status is 0 and Code is empty.
//
// Spent is for a finish, a refresh or a revocation. If it is false, nothing was used up: at 0 or 503, the request may be sent
// again, after RetryAfter. If it is true, the sign-in, code or refresh token is, or may be, used up: begin a new sign-in, or
// get a new code. A refresh token is certainly used up only if Code is grant_invalid; otherwise, try it once more later.
type Error struct {
	Status        int
	Code          string
	RequestID     string
	Spent         bool
	RetryAfter    time.Duration // 0 if the answer doesn't say
	ProviderError string        // the provider's error code

	// The begin call's context, if the user or the provider ended it (sign_in_denied, provider_refused): don't log it.
	Context *string
}

func (err *Error) Error() string {
	if err.Status == 0 {
		return "assay: no answer"
	}
	return fmt.Sprintf("assay: %d %s, request %s", err.Status, err.Code, err.RequestID)
}

// Client may be used by many goroutines; make one for the whole program.
type Client struct {
	url    string
	apiKey string
	http   http.Client
	once   http.Client // over a new connection each, which Assay has not closed as idle
}

const (
	// A little longer than Assay waits for a provider; finishTimeout is for a finish, a refresh and a revocation.
	timeout       = 6 * time.Second
	finishTimeout = 12 * time.Second
)

// New takes the address of Assay, which may be unix:/path, and an API key or "".
func New(url, apiKey string) *Client {
	// No proxy: only Assay may see the token.
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	if path := strings.TrimPrefix(url, "unix:"); path != url {
		url = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	once := transport.Clone()
	once.DisableKeepAlives = true
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		url:    url,
		apiKey: apiKey,
		http:   http.Client{Transport: transport, CheckRedirect: noRedirect},
		once:   http.Client{Transport: once, CheckRedirect: noRedirect},
	}
}

// Begin begins a sign-in. Its error is *Error.
func (client *Client) Begin(ctx context.Context, request BeginRequest) (*BegunSignIn, error) {
	answer, err := client.post(ctx, "/v1/sign-ins", request, timeout, &client.http)
	if err != nil {
		return nil, err
	}
	if answer.status != 201 || answer.SignIn == "" || answer.Nonce == "" {
		return nil, answer.problem(false)
	}
	return &BegunSignIn{answer.SignIn, answer.Nonce, answer.NonceSHA256, answer.ExpiresAt}, nil
}

// BeginInBrowser begins a sign-in in the browser. Its error is *Error.
func (client *Client) BeginInBrowser(ctx context.Context, request BeginBrowserRequest) (*BegunBrowserSignIn, error) {
	answer, err := client.post(ctx, "/v1/sign-ins", request, timeout, &client.http)
	if err != nil {
		return nil, err
	}
	if answer.status != 201 || answer.SignIn == "" || answer.State == "" || answer.AuthorizationURL == "" {
		return nil, answer.problem(false)
	}
	return &BegunBrowserSignIn{answer.SignIn, answer.State, answer.AuthorizationURL, answer.ExpiresAt}, nil
}

// Finish returns whose sign-in it was, or an error that is *Error. The request is sent only once.
func (client *Client) Finish(ctx context.Context, request FinishRequest) (*FinishedSignIn, error) {
	return client.finish(ctx, request)
}

// FinishInBrowser is Finish for a sign-in in the browser.
func (client *Client) FinishInBrowser(ctx context.Context, request FinishBrowserRequest) (*FinishedSignIn, error) {
	return client.finish(ctx, request)
}

func (client *Client) finish(ctx context.Context, request any) (*FinishedSignIn, error) {
	answer, err := client.post(ctx, "/v1/sign-ins/finish", request, finishTimeout, &client.once)
	if err != nil {
		return nil, err
	}
	if answer.status != 200 || !isWhole(answer.Identity) || answer.Grant != nil && answer.Grant.AccessToken == "" {
		return nil, answer.problem(answer.isSpent())
	}
	return &FinishedSignIn{answer.Identity, answer.Context, answer.Grant}, nil
}

// Refresh returns new tokens, or an error that is *Error. The request is sent only once.
func (client *Client) Refresh(ctx context.Context, request RefreshRequest) (*Refreshed, error) {
	answer, err := client.post(ctx, "/v1/grants/refresh", request, finishTimeout, &client.once)
	if err != nil {
		return nil, err
	}
	isIdentified := answer.Identity == nil || isWhole(answer.Identity)
	if answer.status != 200 || answer.Grant == nil || answer.Grant.AccessToken == "" || !isIdentified {
		return nil, answer.problem(answer.isSpent())
	}
	refreshed := &Refreshed{Grant: answer.Grant, Identity: answer.Identity}
	if answer.Problem != nil {
		refreshed.Problem = answer.Problem.Code
	}
	return refreshed, nil
}

// Revoke revokes a token. Its error is *Error, never Spent: it is safe to revoke a token again.
func (client *Client) Revoke(ctx context.Context, request RevokeRequest) error {
	err := client.revoke(ctx, request)
	var problem *Error
	if errors.As(err, &problem) {
		problem.Spent = false
	}
	return err
}

// RevokeByCode exchanges the code, and revokes the tokens. Its error is *Error. The request is sent only once.
func (client *Client) RevokeByCode(ctx context.Context, request RevokeByCodeRequest) error {
	return client.revoke(ctx, request)
}

func (client *Client) revoke(ctx context.Context, request any) error {
	answer, err := client.post(ctx, "/v1/grants/revoke", request, finishTimeout, &client.once)
	if err == nil && answer.status != 204 {
		err = answer.problem(answer.isSpent())
	}
	return err
}

// Verify returns the identity, or an error that is *Refused, *Unavailable or *Error.
func (client *Client) Verify(ctx context.Context, signIn SignIn) (*Identity, error) {
	return client.verify(ctx, signIn, &client.http)
}

// VerifyOnce is Verify for a provider with nonce.single_use: the request is sent only once.
func (client *Client) VerifyOnce(ctx context.Context, signIn SignIn) (*Identity, error) {
	return client.verify(ctx, signIn, &client.once)
}

// Notification verifies a provider's notification. Its error is *Error.
func (client *Client) Notification(ctx context.Context, request NotificationRequest) (*Notification, error) {
	answer, err := client.post(ctx, "/v1/notifications/verify", request, timeout, &client.http)
	if err != nil {
		return nil, err
	}
	if answer.status != 200 || answer.Notification == nil || answer.Notification.ID == "" {
		return nil, answer.problem(false)
	}
	answer.Notification.Events = answer.Events
	return answer.Notification, nil
}

func (client *Client) verify(ctx context.Context, signIn SignIn, over *http.Client) (*Identity, error) {
	answer, err := client.post(ctx, "/v1/verify", signIn, timeout, over)
	var noAnswer *Error
	switch {
	case errors.As(err, &noAnswer):
		return nil, &Unavailable{RetryAfter: time.Second}
	case err != nil:
		return nil, err
	case answer.status == 200 && isWhole(answer.Identity):
		return answer.Identity, nil
	case answer.status == 422 && answer.Code != "":
		return nil, &Refused{answer.Code, answer.Claim, answer.RequestID}
	case answer.status == 503 && answer.retryAfter == 0:
		return nil, &Unavailable{RetryAfter: time.Second}
	case answer.status == 503:
		return nil, &Unavailable{RetryAfter: answer.retryAfter}
	}
	return nil, answer.problem(false)
}

// answer has the members of every answer, and none if it is not a JSON object: then the response is not Assay's.
type answer struct {
	SignIn           string                 `json:"sign_in"`
	Nonce            string                 `json:"nonce"`
	NonceSHA256      string                 `json:"nonce_sha256"`
	State            string                 `json:"state"`
	AuthorizationURL string                 `json:"authorization_url"`
	ExpiresAt        int64                  `json:"expires_at"`
	Identity         *Identity              `json:"identity"`
	Context          *string                `json:"context"`
	Grant            *Grant                 `json:"grant"`
	Problem          *struct{ Code string } `json:"problem"`
	Notification     *Notification          `json:"notification"`
	Events           []Event                `json:"events"`
	Code             string                 `json:"code"`
	Claim            string                 `json:"claim"`
	ProviderError    string                 `json:"provider_error"`
	RequestID        string                 `json:"request_id"`
	Spent            *bool                  `json:"spent"`
	status           int
	retryAfter       time.Duration
}

// isSpent is also true for a response without spent, which is not Assay's: the request may have arrived.
func (answer *answer) isSpent() bool { return answer.Spent == nil || *answer.Spent }

func (answer *answer) problem(spent bool) *Error {
	return &Error{
		answer.status, answer.Code, answer.RequestID, spent, answer.retryAfter, answer.ProviderError, answer.Context,
	}
}

func (client *Client) post(
	ctx context.Context, path string, members any, timeout time.Duration, over *http.Client,
) (*answer, error) {
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	isSent := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { isSent = true }}
	ctx = httptrace.WithClientTrace(ctx, trace)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, client.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if over == &client.http {
		// It has no side effects, so it is safe to resend: lets net/http try again if a kept connection turns out to be closed.
		request.Header["Idempotency-Key"] = nil
	}
	if client.apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+client.apiKey)
	}
	response, err := over.Do(request)
	if err != nil {
		return nil, &Error{Spent: isSent && over == &client.once}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, &Error{Spent: over == &client.once}
	}
	var read answer
	if json.Unmarshal(text, &read) != nil {
		read = answer{}
	}
	read.status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		read.retryAfter = time.Duration(seconds) * time.Second
	}
	return &read, nil
}

func isWhole(identity *Identity) bool {
	return identity != nil && identity.Issuer != "" && identity.Subject != ""
}
