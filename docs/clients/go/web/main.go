// A web backend whose users sign in through the browser. Standard library only; run it behind TLS.
//
//	GET  /sign-in?provider=google&return_to=/basket   begins, and redirects to the provider
//	GET  /callback/google, or POST                    the redirect URI: finishes
//	GET  /                                            says who is signed in
//	POST /sign-out
//	POST /delete-account                              revokes the grants, and deletes the account
//
// The redirect URI of each provider's client, in Assay's settings and at the provider, is ORIGIN/callback/PROVIDER. The
// environment has ORIGIN, AUDIENCES, ASSAY_URL, ASSAY_API_KEY and PORT.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"

	"example.com/backend/assay"
)

var (
	origin    = os.Getenv("ORIGIN") // https://example.com
	audiences = map[string]string{} // the client of each provider: {"google": "123.apps.googleusercontent.com"}
	client    *assay.Client
	path      = regexp.MustCompile(`^/[\x21-\x7e]{0,500}$`)
)

type account struct{ id string }

// who identifies a user.
type who struct{ issuer, subject string }

// storedGrant has a refresh token, which is valid only with the other members. None of these may come from the browser.
type storedGrant struct {
	provider, audience, issuer, subject, refreshToken string
}

// database is in memory; replace it with your tables.
type database struct {
	sync.Mutex
	accounts map[who]*account
	grants   map[*account]map[string]storedGrant
	sessions map[string]*account
	toRevoke []storedGrant
}

// signIn finds or creates the account, stores the grant, and returns the ID of a new session. The old session ends, so that
// nobody who knows its ID is then signed in (session fixation).
func (database *database) signIn(provider string, finished *assay.FinishedSignIn, oldSession string) string {
	database.Lock()
	defer database.Unlock()
	user := who{finished.Identity.Issuer, finished.Identity.Subject}
	found := database.accounts[user]
	if found == nil {
		found = &account{randomID()}
		database.accounts[user] = found
		database.grants[found] = map[string]storedGrant{}
	}
	if grant := finished.Grant; grant != nil && grant.RefreshToken != nil {
		audience := audiences[provider]
		stored := storedGrant{provider, audience, user.issuer, user.subject, *grant.RefreshToken}
		database.grants[found][provider+" "+audience] = stored
	}
	delete(database.sessions, oldSession)
	session := randomID()
	database.sessions[session] = found
	return session
}

func (database *database) account(session string) *account {
	database.Lock()
	defer database.Unlock()
	return database.sessions[session]
}

func (database *database) signOut(session string) {
	database.Lock()
	defer database.Unlock()
	delete(database.sessions, session)
}

// delete deletes all data of an account, and returns the grants to revoke.
func (database *database) delete(deleted *account) map[string]storedGrant {
	database.Lock()
	defer database.Unlock()
	for user, each := range database.accounts {
		if each == deleted {
			delete(database.accounts, user)
		}
	}
	for session, each := range database.sessions {
		if each == deleted {
			delete(database.sessions, session)
		}
	}
	grants := database.grants[deleted]
	delete(database.grants, deleted)
	return grants
}

var data = &database{
	accounts: map[who]*account{}, grants: map[*account]map[string]storedGrant{}, sessions: map[string]*account{},
}

func begin(w http.ResponseWriter, r *http.Request) {
	provider, returnTo := r.URL.Query().Get("provider"), r.URL.Query().Get("return_to")
	audience, isKnown := audiences[provider]
	if !isKnown {
		page(w, 404, "Not found.", "/")
		return
	}
	// Assay does not validate the context, so accept only a path of this site.
	if !path.MatchString(returnTo) {
		returnTo = "/"
	}
	begun, err := client.BeginInBrowser(r.Context(), assay.BeginBrowserRequest{
		BeginRequest: assay.BeginRequest{Provider: provider, Audience: audience, Context: returnTo},
		RedirectURI:  origin + "/callback/" + provider,
	})
	if err != nil {
		log.Print("begin: ", err)
		page(w, 503, "Signing in is not possible right now. Please try again later.", "/")
		return
	}
	// The provider's page posts a form from another site, and browsers send no Lax cookie with it.
	// A request that was pushed or signed does not show how it is answered.
	sameSite := http.SameSiteLaxMode
	for _, part := range []string{"response_mode=form_post", "request=", "request_uri="} {
		if strings.Contains(begun.AuthorizationURL, part) {
			sameSite = http.SameSiteNoneMode
		}
	}
	setCookie(w, "__Host-sign-in-"+begun.State, begun.SignIn, 600, sameSite)
	redirect(w, begun.AuthorizationURL)
}

// finish reads the query, or the form that the provider's page posts (response_mode=form_post).
func finish(w http.ResponseWriter, r *http.Request) {
	provider := strings.TrimPrefix(r.URL.Path, "/callback/")
	r.Body = http.MaxBytesReader(w, r.Body, 65_536)
	if r.ParseForm() != nil {
		page(w, 400, "That did not work. Please sign in again.", "/")
		return
	}
	parameters := r.URL.Query()
	if r.Method == http.MethodPost {
		parameters = r.PostForm
	}
	response, isAmbiguous := map[string]string{}, false
	for name, values := range parameters {
		response[name] = values[0]
		isAmbiguous = isAmbiguous || len(values) > 1
	}
	name := "__Host-sign-in-" + response["state"]
	// The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
	signIn, isOurs := cookieValue(r, name)
	if _, isKnown := audiences[provider]; !isOurs || !isKnown || isAmbiguous {
		page(w, 400, "This sign-in was begun in another browser, or too long ago. Please sign in again.", "/")
		return
	}
	finished, err := client.FinishInBrowser(r.Context(), assay.FinishBrowserRequest{
		SignIn: signIn, Response: response, RedirectURI: origin + "/callback/" + provider,
	})
	if err != nil {
		refuse(w, name, err)
		return
	}
	session := data.signIn(provider, finished, session(r))
	setCookie(w, name, "", -1, http.SameSiteLaxMode)
	setCookie(w, "__Host-session", session, 30*86_400, http.SameSiteLaxMode)
	redirect(w, origin+pathOf(finished.Context))
}

func refuse(w http.ResponseWriter, cookie string, err error) {
	var problem *assay.Error
	isAssays := errors.As(err, &problem)
	if isAssays && !problem.Spent && (problem.Status == 0 || problem.Status == 503) {
		log.Print("finish: ", err)
		// The cookie stays, so that reloading the page repeats the finish.
		page(w, 503, "Signing in takes longer than usual. Please reload this page in a moment.", "/")
		return
	}
	setCookie(w, cookie, "", -1, http.SameSiteLaxMode)
	if isAssays && problem.Code == "sign_in_denied" {
		page(w, 200, "You did not sign in, and nothing has changed.", pathOf(problem.Context))
		return
	}
	log.Print("finish: ", err)
	status := 500
	if isAssays && problem.Status == 422 {
		status = 400
	}
	page(w, status, "That did not work. Please sign in again.", "/")
}

// revoke keeps what could not be revoked in toRevoke, which your own job has to retry: the account is deleted anyway.
func revoke(ctx context.Context, grants map[string]storedGrant) {
	for _, grant := range grants {
		err := client.Revoke(ctx, assay.RevokeRequest{
			Provider: grant.provider, Token: grant.refreshToken, TokenTypeHint: "refresh_token", Audience: grant.audience,
		})
		if err == nil {
			continue
		}
		log.Print("revoke: ", err)
		var problem *assay.Error
		if !errors.As(err, &problem) || problem.Code != "revocation_not_supported" {
			data.Lock()
			data.toRevoke = append(data.toRevoke, grant)
			data.Unlock()
		}
	}
}

// ours refuses forms from other sites.
func ours(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Origin") != origin {
			page(w, 403, "This form came from another site.", "/")
			return
		}
		handler(w, r)
	}
}

func signOut(w http.ResponseWriter, r *http.Request) {
	data.signOut(session(r))
	setCookie(w, "__Host-session", "", -1, http.SameSiteLaxMode)
	redirect(w, origin)
}

func deleteAccount(w http.ResponseWriter, r *http.Request) {
	if account := data.account(session(r)); account != nil {
		// Not the request's context: it must finish even if the browser disconnects.
		revoke(context.Background(), data.delete(account))
	}
	setCookie(w, "__Host-session", "", -1, http.SameSiteLaxMode)
	redirect(w, origin)
}

func home(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		page(w, 404, "Not found.", "/")
	} else if account := data.account(session(r)); account != nil {
		page(w, 200, "Signed in as "+account.id+".", "/")
	} else {
		page(w, 200, "Signed out.", "/")
	}
}

func session(r *http.Request) string {
	id, _ := cookieValue(r, "__Host-session")
	return id
}

// cookieValue returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other
// sites plant a __Host- cookie. Two cookies of one name count as none, because one of them may be an attacker's.
func cookieValue(r *http.Request, name string) (value string, isThere bool) {
	for _, pair := range strings.Split(strings.Join(r.Header["Cookie"], ";"), ";") {
		each, rest, isPair := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !isPair || each != name {
			continue
		}
		if isThere {
			return "", false
		}
		value, isThere = rest, true
	}
	return value, isThere
}

// setCookie sets a cookie that is sent only to this host over HTTPS, and hidden from scripts. Negative seconds delete it.
func setCookie(w http.ResponseWriter, name, value string, seconds int, sameSite http.SameSite) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, MaxAge: seconds, Path: "/", Secure: true, HttpOnly: true, SameSite: sameSite,
	})
}

func redirect(w http.ResponseWriter, url string) {
	w.Header().Set("Location", url)
	w.WriteHeader(http.StatusSeeOther)
}

func page(w http.ResponseWriter, status int, text, back string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	link := html.EscapeString(origin + back)
	fmt.Fprintf(w, `<!doctype html><title>Example</title><p>%s</p><a href="%s">Back</a>`, html.EscapeString(text), link)
}

// pathOf returns the path to return to, which was checked before the sign-in began.
func pathOf(context *string) string {
	if context == nil {
		return "/"
	}
	return *context
}

func randomID() string {
	octets := make([]byte, 32)
	if _, err := rand.Read(octets); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(octets)
}

func main() {
	if origin == "" {
		log.Fatal("ORIGIN is missing or empty; set it to the URL of this site, such as https://example.com")
	}
	if err := json.Unmarshal([]byte(os.Getenv("AUDIENCES")), &audiences); err != nil {
		log.Fatal("AUDIENCES: ", err)
	}
	client = assay.New(os.Getenv("ASSAY_URL"), os.Getenv("ASSAY_API_KEY"))
	routes := http.NewServeMux()
	routes.HandleFunc("/sign-in", begin)
	routes.HandleFunc("/callback/", finish)
	routes.HandleFunc("/sign-out", ours(signOut))
	routes.HandleFunc("/delete-account", ours(deleteAccount))
	routes.HandleFunc("/", home)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The URL of a callback contains a code, which no other site may see.
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "same-origin")
		routes.ServeHTTP(w, r)
	})))
}
