// A site with the package's handler: reads requests as JSON, one per line, and writes responses.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	assay "assay.example/client"
)

func main() {
	client, err := assay.New(assay.Options{URL: os.Args[1], APIKey: os.Args[2], RetryFor: -1})
	if err != nil {
		panic(err)
	}
	site := &assay.SignIns{
		Client:    client,
		Origin:    "https://example.com",
		Providers: map[string]string{"oidc": "client", "down": "client"},
		SignedIn: func(response http.ResponseWriter, _ *http.Request, finished *assay.FinishedSignIn) {
			text, _ := json.Marshal(map[string]any{"subject": finished.Identity.Subject, "context": finished.Context})
			_, _ = response.Write(text)
		},
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked struct{ Method, Path, Cookie, Body string }
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		request := httptest.NewRequest(asked.Method, asked.Path, strings.NewReader(asked.Body))
		request.Header.Set("Cookie", asked.Cookie)
		recorder := httptest.NewRecorder()
		site.ServeHTTP(recorder, request)
		header := recorder.Header()
		text, _ := json.Marshal(map[string]any{
			"status": recorder.Code, "location": header.Get("Location"), "cookies": append([]string{}, header.Values("Set-Cookie")...),
			"body": recorder.Body.String(),
		})
		fmt.Println(string(text))
	}
}
