package assay

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// SignIns is an http.Handler for sign-ins in the browser: /sign-in/{provider}?return_to=/path redirects to the provider, and
// /callback/{provider} is the redirect URI. The site needs HTTPS, or the host localhost.
type SignIns struct {
	Client    *Client
	Origin    string            // the site's, such as https://example.com
	Providers map[string]string // the client of each provider, such as {"apple": "com.example.web"}
	Options   BeginBrowserOptions

	// SignedIn starts a session, with a new ID, and responds. Redirect to finished.Context, which is a path of this site.
	SignedIn func(response http.ResponseWriter, request *http.Request, finished *FinishedSignIn)
}

const largestForm = 65_536

// A path that begins with two slashes would be another site's.
var ownPath = regexp.MustCompile(`^/([\x21-\x2e\x30-\x5b\x5d-\x7e][\x21-\x7e]{0,499})?$`)

// ServeHTTP begins or finishes a sign-in.
func (signIns *SignIns) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	response.Header().Set("Cache-Control", "no-store")
	// The URL of a callback contains a code, which no other site may see.
	response.Header().Set("Referrer-Policy", "same-origin")
	isGet := request.Method == http.MethodGet
	if provider := strings.TrimPrefix(request.URL.Path, "/sign-in/"); provider != request.URL.Path && isGet {
		signIns.begin(response, request, provider)
	} else if provider := strings.TrimPrefix(request.URL.Path, "/callback/"); provider != request.URL.Path && isGet {
		signIns.finish(response, request, provider, request.URL.RawQuery)
	} else if provider != request.URL.Path && request.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, largestForm))
		if err != nil {
			http.Error(response, "That did not work.", http.StatusRequestEntityTooLarge)
			return
		}
		signIns.finish(response, request, provider, string(body))
	} else {
		http.Error(response, "Not found.", http.StatusNotFound)
	}
}

func (signIns *SignIns) begin(response http.ResponseWriter, request *http.Request, provider string) {
	audience, isKnown := signIns.Providers[provider]
	if !isKnown {
		http.Error(response, "Not found.", http.StatusNotFound)
		return
	}
	options := signIns.Options
	options.Audience, options.Context = audience, "/"
	if path := request.URL.Query().Get("return_to"); ownPath.MatchString(path) {
		options.Context = path
	}
	begun, err := signIns.Client.BeginInBrowser(request.Context(), provider, signIns.redirectURI(provider), options)
	if err != nil {
		log.Print("begin: ", err)
		status := http.StatusInternalServerError
		var problem *Error
		if errors.As(err, &problem) && problem.MayRetry() {
			status = http.StatusServiceUnavailable
		}
		http.Error(response, "Signing in is not possible right now. Please try again later.", status)
		return
	}
	// The provider's page posts a form from another site, and browsers send no Lax cookie with it.
	// A request that was pushed or signed does not show how it is answered.
	sameSite := "Lax"
	for _, part := range []string{"response_mode=form_post", "request=", "request_uri="} {
		if strings.Contains(begun.AuthorizationURL, part) {
			sameSite = "None"
		}
	}
	response.Header().Add("Set-Cookie", cookie("__Host-sign-in-"+begun.State, begun.SignIn, 600, sameSite))
	response.Header().Set("Location", begun.AuthorizationURL)
	response.WriteHeader(http.StatusSeeOther)
}

func (signIns *SignIns) finish(response http.ResponseWriter, request *http.Request, provider, parameters string) {
	values, err := url.ParseQuery(parameters)
	every := map[string]string{}
	isOnce := err == nil
	for name, each := range values {
		every[name] = each[0]
		isOnce = isOnce && len(each) == 1
	}
	name := "__Host-sign-in-" + every["state"]
	// The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
	signIn, hasCookie := cookieValue(strings.Join(request.Header.Values("Cookie"), ";"), name)
	if _, isKnown := signIns.Providers[provider]; !isKnown || !hasCookie || !isOnce {
		http.Error(response, "This sign-in was begun in another browser, or too long ago. Please sign in again.", http.StatusBadRequest)
		return
	}
	finished, err := signIns.Client.FinishInBrowser(request.Context(), signIn, every, signIns.redirectURI(provider), FinishBrowserOptions{})
	var problem *Error
	if errors.As(err, &problem) && problem.MayRetry() {
		log.Print("finish: ", err)
		// The cookie stays, so that reloading the page repeats the finish.
		http.Error(response, "Signing in takes longer than usual. Please reload this page in a moment.", http.StatusServiceUnavailable)
		return
	}
	response.Header().Add("Set-Cookie", cookie(name, "", 0, "Lax"))
	switch {
	case err == nil:
		signIns.SignedIn(response, request, finished)
	case problem != nil && problem.Code == CodeSignInDenied:
		response.Header().Set("Location", "/")
		if problem.Context != nil && ownPath.MatchString(*problem.Context) {
			response.Header().Set("Location", *problem.Context)
		}
		response.WriteHeader(http.StatusSeeOther)
	default:
		log.Print("finish: ", err)
		status := http.StatusInternalServerError
		if problem != nil && (problem.IsUnavailable() || problem.IsRefused()) {
			status = http.StatusBadRequest
		}
		http.Error(response, "That did not work. Please sign in again.", status)
	}
}

func (signIns *SignIns) redirectURI(provider string) string {
	return strings.TrimRight(signIns.Origin, "/") + "/callback/" + provider
}

// cookie is sent only to this host over HTTPS, and hidden from scripts.
func cookie(name, value string, seconds int, sameSite string) string {
	return fmt.Sprintf("%s=%s; Max-Age=%d; Path=/; Secure; HttpOnly; SameSite=%s", name, value, seconds, sameSite)
}

// cookieValue is a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant
// a __Host- cookie. Two cookies of one name count as none, because one of them may be an attacker's.
func cookieValue(header, name string) (string, bool) {
	value, count := "", 0
	for _, pair := range strings.Split(header, ";") {
		if each, text, ok := strings.Cut(strings.Trim(pair, " \t"), "="); ok && each == name {
			value, count = text, count+1
		}
	}
	return value, count == 1
}
