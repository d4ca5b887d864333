package main

import (
	"context"
	"errors"
	"log"

	assay "assay.example/client"
)

// finish finishes an app's sign-in: the status and the body of the response.
func finish(ctx context.Context, client *assay.Client, signIn, idToken string) (int, map[string]string) {
	finished, err := client.Finish(ctx, signIn, idToken, assay.FinishOptions{})
	var problem *assay.Error
	switch {
	case err == nil:
		// Find or create the user with these two, and start a session.
		return 200, map[string]string{"issuer": finished.Identity.Issuer, "subject": finished.Identity.Subject}
	case errors.As(err, &problem) && problem.MayRetry():
		return 503, map[string]string{"error": "try again later"}
	case problem != nil && (problem.Spent || problem.IsRefused()):
		log.Print("sign-in: ", err)
		return 401, map[string]string{"error": "start a new sign-in"}
	}
	log.Print("sign-in: ", err)
	return 500, map[string]string{"error": "internal error"}
}
