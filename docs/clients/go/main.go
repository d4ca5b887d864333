// Reads sign-ins as JSON, one a line, and says of each what Assay said.
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

func main() {
	url := os.Getenv("ASSAY_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	client := assay.New(url, os.Getenv("ASSAY_API_KEY"))
	lines, output := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var signIn assay.SignIn
		if err := json.Unmarshal(lines.Bytes(), &signIn); err != nil {
			log.Fatal(err)
		}
		identity, err := client.Verify(context.Background(), signIn)
		var refused *assay.Refused
		var unavailable *assay.Unavailable
		var mistake *assay.Error
		switch {
		case err == nil:
			output.Encode(map[string]any{"verified": identity})
		case errors.As(err, &refused):
			output.Encode(map[string]any{"refused": refused.Code})
		case errors.As(err, &unavailable):
			output.Encode(map[string]any{"unavailable": unavailable.RetryAfter.Seconds()})
		case errors.As(err, &mistake):
			output.Encode(map[string]any{"error": mistake.Status, "code": mistake.Code})
		default:
			log.Fatal(err)
		}
	}
}
