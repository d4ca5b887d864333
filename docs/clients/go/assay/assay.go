// Package assay asks Assay whose ID Token it is. Go 1.19 or later, standard library alone.
package assay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
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

// SignIn is what the app sent, and the nonce that this backend made for it.
type SignIn struct {
	Provider    string          `json:"provider"`
	IDToken     string          `json:"id_token"`
	Nonce       *string         `json:"nonce,omitempty"` // nil only where the provider knows none
	Audience    string          `json:"audience,omitempty"`
	MaxAge      *int            `json:"max_age,omitempty"`
	AccessToken string          `json:"access_token,omitempty"`
	Code        string          `json:"code,omitempty"`
	User        json.RawMessage `json:"user,omitempty"` // Apple's, at a person's first sign-in
}

// Refused says to sign nobody in: this token will be refused each time.
type Refused struct {
	Code      string
	Claim     string // the claim that is missing or invalid, if one is
	RequestID string
}

func (refused *Refused) Error() string {
	return fmt.Sprintf("assay: refused: %s, request %s", refused.Code, refused.RequestID)
}

// Unavailable says that nobody can say just now; the same request may succeed later.
type Unavailable struct {
	RetryAfter time.Duration
}

func (unavailable *Unavailable) Error() string { return "assay: unavailable" }

// Error is a mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500).
type Error struct {
	Status    int
	Code      string
	RequestID string
}

func (err *Error) Error() string {
	return fmt.Sprintf("assay: %d %s, request %s", err.Status, err.Code, err.RequestID)
}

// Client may be used by many goroutines; make one for the whole program.
type Client struct {
	url    string
	apiKey string
	http   http.Client
}

// New takes the address of Assay, which may be unix:/path, and an API key or "".
func New(url, apiKey string) *Client {
	// No proxy: the token is for Assay alone.
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	if path := strings.TrimPrefix(url, "unix:"); path != url {
		url = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	client := &Client{url: url + "/v1/verify", apiKey: apiKey}
	client.http = http.Client{
		Transport: transport,
		// A little longer than Assay waits for a provider's keys.
		Timeout:       6 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client
}

// Verify returns the identity, or an error that is *Refused, *Unavailable or *Error.
func (client *Client) Verify(ctx context.Context, signIn SignIn) (*Identity, error) {
	body, err := json.Marshal(signIn)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, client.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	// A token may be asked about twice: lets net/http try again where a kept connection turns out to be closed.
	request.Header["Idempotency-Key"] = nil
	if client.apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+client.apiKey)
	}
	response, err := client.http.Do(request)
	if err != nil {
		return nil, &Unavailable{RetryAfter: time.Second}
	}
	defer response.Body.Close()
	var answer struct {
		Identity  *Identity `json:"identity"`
		Code      string    `json:"code"`
		Claim     string    `json:"claim"`
		RequestID string    `json:"request_id"`
	}
	// What is not JSON was not sent by Assay, and leaves the answer empty.
	isJSON := json.NewDecoder(response.Body).Decode(&answer) == nil
	switch {
	case response.StatusCode == 200 && isJSON && isWhole(answer.Identity):
		return answer.Identity, nil
	case response.StatusCode == 422 && isJSON && answer.Code != "":
		return nil, &Refused{answer.Code, answer.Claim, answer.RequestID}
	case response.StatusCode == 503:
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		return nil, &Unavailable{RetryAfter: time.Duration(seconds) * time.Second}
	}
	return nil, &Error{response.StatusCode, answer.Code, answer.RequestID}
}

func isWhole(identity *Identity) bool {
	return identity != nil && identity.Issuer != "" && identity.Subject != ""
}
