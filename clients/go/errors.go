package assay

import (
	"encoding/json"
	"fmt"
	"time"
)

// Error is a call that failed. Its text is for the log: it has no token, no handle and no nonce.
//
// If it is neither IsRefused nor IsUnavailable, the caller, the settings or the provider is at fault: raise an alert.
type Error struct {
	Status     int           // the HTTP status; 0 if there was no answer
	Code       string        // one of the Code constants; empty if there was no answer, or if it was not Assay's
	Detail     string        // for people; it may change
	RequestID  string        // the same as in Assay's log
	Spent      bool          // the sign-in, code, token, nonce or proof is, or may be, used up: never send it again
	RetryAfter time.Duration // before the same request may succeed; 0 if Assay does not say
	Claim      string        // the claim that is missing or invalid

	ProviderError string                     // the provider's error code
	Context       *string                    // the begin call's, if the user or the provider ended the sign-in: don't log it
	Challenge     *Challenge                 // how to answer the client that sent an access token; only for a call with Resource
	DPoPNonce     string                     // what the next proof of this client must have, as DPoP-Nonce of your response
	Members       map[string]json.RawMessage // the whole problem, for members that this version does not know
}

// Error has no secret.
func (err *Error) Error() string {
	switch {
	case err.Status == 0:
		text := "assay: no answer"
		if err.Spent {
			text += ", but the request may have arrived"
		}
		if err.Detail != "" {
			text += ": " + err.Detail
		}
		return text
	case err.Code == "":
		return fmt.Sprintf("assay: the answer with status %d is not one of Assay's", err.Status)
	}
	return fmt.Sprintf("assay: %d %s: %s (request %s)", err.Status, err.Code, err.Detail, err.RequestID)
}

// GoString has no secret.
func (err *Error) GoString() string { return err.Error() }

// IsRefused says to sign nobody in: the same request will be refused again. Show users one message for all codes.
func (err *Error) IsRefused() bool { return err.Status == 422 && err.Code != "" }

// IsUnavailable says that nobody can decide now. Unless Spent, the same request may succeed later.
func (err *Error) IsUnavailable() bool { return err.Status == 503 || err.Status == 0 }

// MayRetry says whether the same request may be sent again, after RetryAfter. The client did so, for as long as it may.
func (err *Error) MayRetry() bool { return !err.Spent && err.IsUnavailable() }
