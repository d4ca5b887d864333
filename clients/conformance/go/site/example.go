package main

import (
	"net/http"

	assay "assay.example/client"
)

// backend has sign-ins with Apple. The user begins at /sign-in/apple.
func backend(client *assay.Client, start func(http.ResponseWriter, *http.Request, *assay.Identity)) http.Handler {
	signIns := &assay.SignIns{
		Client:    client,
		Origin:    "https://example.com",
		Providers: map[string]string{"apple": "com.example.web"},
		Options:   assay.BeginBrowserOptions{Scopes: []string{"name", "email"}},
		SignedIn: func(response http.ResponseWriter, request *http.Request, finished *assay.FinishedSignIn) {
			// A new session, so that nobody who knows the old one is signed in.
			start(response, request, finished.Identity)
			http.Redirect(response, request, *finished.Context, http.StatusSeeOther)
		},
	}
	mux := http.NewServeMux()
	mux.Handle("/sign-in/", signIns)
	mux.Handle("/callback/", signIns)
	return mux
}

var _ = backend
