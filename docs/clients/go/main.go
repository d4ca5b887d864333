// The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
//
//	{"begin": {"provider": "apple"}}                   the app keeps sign_in in memory, and signs in with a nonce
//	{"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
//	{"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//	{"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
//
// The other calls work the same way, by name. A real backend never sends a grant to an app.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"example.com/backend/assay"
)

type request struct {
	Begin           *assay.BeginRequest         `json:"begin"`
	BeginInBrowser  *assay.BeginBrowserRequest  `json:"begin_in_browser"`
	Finish          *assay.FinishRequest        `json:"finish"`
	FinishInBrowser *assay.FinishBrowserRequest `json:"finish_in_browser"`
	Verify          *struct {
		assay.SignIn
		SingleUse bool `json:"single_use"`
	} `json:"verify"`
	Refresh      *assay.RefreshRequest      `json:"refresh"`
	Revoke       *assay.RevokeRequest       `json:"revoke"`
	RevokeByCode *assay.RevokeByCodeRequest `json:"revoke_by_code"`
	Receive      *struct {
		ContentType string `json:"content_type"`
		Body        string `json:"body"`
	} `json:"receive"`
}

// known stands in for the database.
var known = map[[2]string]bool{}

func receive(ctx context.Context, client *assay.Client, contentType, body string) map[string]any {
	done := []string{}
	receiver := Receiver{client, func(notification *assay.Notification) error {
		key := [2]string{notification.Provider, notification.ID}
		for _, event := range notification.Events {
			if !known[key] {
				done = append(done, event.Type)
			}
		}
		known[key] = true
		return nil
	}}
	return map[string]any{"answered": receiver.Receive(ctx, contentType, body), "done": done}
}

func answer(client *assay.Client, request request) (map[string]any, error) {
	ctx := context.Background()
	switch {
	case request.Receive != nil:
		return receive(ctx, client, request.Receive.ContentType, request.Receive.Body), nil
	case request.Begin != nil:
		begun, err := client.Begin(ctx, *request.Begin)
		return map[string]any{"begun": begun}, err
	case request.BeginInBrowser != nil:
		begun, err := client.BeginInBrowser(ctx, *request.BeginInBrowser)
		return map[string]any{"begun_in_browser": begun}, err
	case request.Finish != nil:
		finished, err := client.Finish(ctx, *request.Finish)
		return map[string]any{"finished": finished}, err
	case request.FinishInBrowser != nil:
		finished, err := client.FinishInBrowser(ctx, *request.FinishInBrowser)
		return map[string]any{"finished": finished}, err
	case request.Refresh != nil:
		refreshed, err := client.Refresh(ctx, *request.Refresh)
		if err != nil {
			return nil, err
		}
		members := map[string]any{"grant": refreshed.Grant, "identity": refreshed.Identity}
		if refreshed.Problem != "" {
			members["problem"] = refreshed.Problem
		}
		return map[string]any{"refreshed": members}, nil
	case request.Revoke != nil:
		return map[string]any{"revoked": true}, client.Revoke(ctx, *request.Revoke)
	case request.RevokeByCode != nil:
		return map[string]any{"revoked": true}, client.RevokeByCode(ctx, *request.RevokeByCode)
	}
	verify := client.Verify
	if request.Verify.SingleUse {
		verify = client.VerifyOnce
	}
	identity, err := verify(ctx, request.Verify.SignIn)
	return map[string]any{"verified": identity}, err
}

func main() {
	url := os.Getenv("ASSAY_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	client := assay.New(url, os.Getenv("ASSAY_API_KEY"))
	lines, output := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var request request
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			log.Fatal(err)
		}
		said, err := answer(client, request)
		var refused *assay.Refused
		var unavailable *assay.Unavailable
		var problem *assay.Error
		switch {
		case err == nil:
			output.Encode(said)
		case errors.As(err, &refused):
			output.Encode(map[string]any{"refused": refused.Code})
		case errors.As(err, &unavailable):
			output.Encode(map[string]any{"unavailable": unavailable.RetryAfter.Seconds()})
		case errors.As(err, &problem):
			// The text of the error is for the log. It has no token and no handle.
			output.Encode(map[string]any{
				"error": problem.Status, "code": problem.Code, "spent": problem.Spent, "log": problem.Error(),
				"provider_error": problem.ProviderError, "context": problem.Context,
			})
		default:
			log.Fatal(err)
		}
	}
}
