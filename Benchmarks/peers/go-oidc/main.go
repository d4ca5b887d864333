// net/http and coreos/go-oidc, as Debian packages them, with a key set that does not change.
//
// usage: go-oidc PORT KEYS.json
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	oidc "github.com/coreos/go-oidc"
	jose "gopkg.in/square/go-jose.v2"
)

type keySet struct{ keys jose.JSONWebKeySet }

func (s *keySet) VerifySignature(_ context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSigned(token)
	if err != nil {
		return nil, err
	}
	for _, key := range s.keys.Key(jws.Signatures[0].Header.KeyID) {
		if payload, err := jws.Verify(&key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key made this signature")
}

type signInRequest struct {
	IDToken string `json:"id_token"`
	Nonce   string `json:"nonce"`
}

type claims struct {
	Email          string      `json:"email"`
	EmailVerified  interface{} `json:"email_verified"`
	IsPrivateEmail interface{} `json:"is_private_email"`
	RealUserStatus int         `json:"real_user_status"`
}

type identity struct {
	Issuer         string   `json:"issuer"`
	Subject        string   `json:"subject"`
	Audience       []string `json:"audience"`
	ExpiresAt      int64    `json:"expires_at"`
	IssuedAt       int64    `json:"issued_at"`
	Email          string   `json:"email"`
	EmailVerified  bool     `json:"email_verified"`
	IsPrivateEmail bool     `json:"is_private_email"`
	RealUserStatus int      `json:"real_user_status"`
}

func isTrue(value interface{}) bool { return value == true || value == "true" }

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go-oidc PORT KEYS.json")
	}
	text, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	set := &keySet{}
	if err := json.Unmarshal(text, &set.keys); err != nil {
		log.Fatal(err)
	}
	verifier := oidc.NewVerifier("https://appleid.apple.com", set, &oidc.Config{
		ClientID: "com.example.app", SupportedSigningAlgs: []string{"RS256", "ES256"},
	})
	http.HandleFunc("/v1/verify", func(response http.ResponseWriter, request *http.Request) {
		var asked signInRequest
		if json.NewDecoder(request.Body).Decode(&asked) != nil {
			http.Error(response, "{}", http.StatusBadRequest)
			return
		}
		token, err := verifier.Verify(request.Context(), asked.IDToken)
		hash := sha256.Sum256([]byte(asked.Nonce))
		var found claims
		if err != nil || token.Nonce != hex.EncodeToString(hash[:]) || token.Claims(&found) != nil {
			http.Error(response, "{}", http.StatusUnauthorized)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		json.NewEncoder(response).Encode(identity{
			token.Issuer, token.Subject, token.Audience, token.Expiry.Unix(), token.IssuedAt.Unix(), found.Email,
			isTrue(found.EmailVerified), isTrue(found.IsPrivateEmail), found.RealUserStatus,
		})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
