// net/http and golang-jwt, as Debian packages them, with public keys that do not change.
//
// usage: golang-jwt PORT RS256.pem ES256.pem
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/golang-jwt/jwt"
)

type signInRequest struct {
	IDToken string `json:"id_token"`
	Nonce   string `json:"nonce"`
}

type claims struct {
	jwt.StandardClaims
	Nonce          string      `json:"nonce"`
	Email          string      `json:"email"`
	EmailVerified  interface{} `json:"email_verified"`
	IsPrivateEmail interface{} `json:"is_private_email"`
	RealUserStatus int         `json:"real_user_status"`
}

type identity struct {
	Issuer         string `json:"issuer"`
	Subject        string `json:"subject"`
	Audience       string `json:"audience"`
	ExpiresAt      int64  `json:"expires_at"`
	IssuedAt       int64  `json:"issued_at"`
	Email          string `json:"email"`
	EmailVerified  bool   `json:"email_verified"`
	IsPrivateEmail bool   `json:"is_private_email"`
	RealUserStatus int    `json:"real_user_status"`
}

func isTrue(value interface{}) bool { return value == true || value == "true" }

func read(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	return text
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: golang-jwt PORT RS256.pem ES256.pem")
	}
	rsaKey, err := jwt.ParseRSAPublicKeyFromPEM(read(os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	ecKey, err := jwt.ParseECPublicKeyFromPEM(read(os.Args[3]))
	if err != nil {
		log.Fatal(err)
	}
	key := func(token *jwt.Token) (interface{}, error) {
		switch token.Header["alg"] {
		case "RS256":
			return rsaKey, nil
		case "ES256":
			return ecKey, nil
		}
		return nil, errors.New("another algorithm")
	}
	parser := &jwt.Parser{ValidMethods: []string{"RS256", "ES256"}}
	http.HandleFunc("/v1/verify", func(response http.ResponseWriter, request *http.Request) {
		var asked signInRequest
		if json.NewDecoder(request.Body).Decode(&asked) != nil {
			http.Error(response, "{}", http.StatusBadRequest)
			return
		}
		var found claims
		_, err := parser.ParseWithClaims(asked.IDToken, &found, key)
		hash := sha256.Sum256([]byte(asked.Nonce))
		if err != nil || !found.VerifyIssuer("https://appleid.apple.com", true) ||
			!found.VerifyAudience("com.example.app", true) || found.Nonce != hex.EncodeToString(hash[:]) {
			http.Error(response, "{}", http.StatusUnauthorized)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		json.NewEncoder(response).Encode(identity{
			found.Issuer, found.Subject, found.Audience, found.ExpiresAt, found.IssuedAt, found.Email,
			isTrue(found.EmailVerified), isTrue(found.IsPrivateEmail), found.RealUserStatus,
		})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
