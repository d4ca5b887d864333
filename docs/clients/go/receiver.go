package main

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"strings"

	"example.com/backend/assay"
)

// Receiver receives notifications from providers: Apple's, logout tokens and security events, all at one URL.
type Receiver struct {
	Client *assay.Client
	// Once acts on a notification's events unless it has done so before. In one transaction: insert Provider and ID into
	// notifications; if they were there already, do nothing; otherwise act on each event.
	Once func(*assay.Notification) error
}

// Receive returns the status for the response to the sender. Assay's log has the reason for a refusal.
func (receiver Receiver) Receive(ctx context.Context, contentType, body string) int {
	sent, isGood := message(contentType, body)
	if !isGood {
		return 400
	}
	notification, err := receiver.Client.Notification(ctx, sent)
	var problem *assay.Error
	if errors.As(err, &problem) {
		switch problem.Status {
		case 0, 503:
			return 503 // The sender tries again later.
		case 400, 404, 422:
			return 400 // Another delivery would not help.
		}
	}
	if err != nil {
		return 500
	}
	if receiver.Once(notification) != nil {
		return 500 // The sender tries again, and nothing is marked as processed.
	}
	return 200
}

// message is the request for Assay.
func message(contentType, body string) (assay.NotificationRequest, bool) {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch mediaType {
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(body)
		return assay.NotificationRequest{Token: form.Get("logout_token")}, err == nil && form.Has("logout_token")
	case "application/secevent+jwt":
		return assay.NotificationRequest{Token: strings.TrimSpace(body)}, true
	}
	return assay.NotificationRequest{Payload: json.RawMessage(body)}, json.Valid([]byte(body))
}
