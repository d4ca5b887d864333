// Runs the conformance cases with the installed module: reads calls as JSON, one per line, and writes what they return.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"time"

	assay "assay.example/client"
)

type asked struct {
	Call   string          `json:"call"`
	Client json.RawMessage `json:"client"`
	With   json.RawMessage `json:"with"`
}

type act struct {
	Will       string          `json:"will"`
	Fail       string          `json:"fail"`
	NoAnswer   string          `json:"no_answer"`
	Sent       bool            `json:"sent"`
	Status     int             `json:"status"`
	Code       string          `json:"code"`
	RetryAfter int             `json:"retry_after"`
	Members    json.RawMessage `json:"members"`
}

type made struct {
	client *assay.Client
	fake   *assay.Fake
}

var clients = map[string]made{}

func client(text json.RawMessage) made {
	if found, ok := clients[string(text)]; ok {
		return found
	}
	var options struct {
		URL           string   `json:"url"`
		APIKey        string   `json:"api_key"`
		APIKeyFile    string   `json:"api_key_file"`
		CAFile        string   `json:"ca_file"`
		Timeout       float64  `json:"timeout"`
		FinishTimeout float64  `json:"finish_timeout"`
		RetryFor      *float64 `json:"retry_for"`
		Script        []act    `json:"script"`
	}
	check(json.Unmarshal(text, &options))
	seconds := func(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }
	retryFor := time.Duration(0)
	if options.RetryFor != nil {
		retryFor = seconds(*options.RetryFor) - 1
	}
	var one made
	if options.Script != nil {
		one.client, one.fake = assay.NewFake()
	} else {
		var err error
		one.client, err = assay.New(assay.Options{
			URL: options.URL, APIKey: options.APIKey, APIKeyFile: options.APIKeyFile, CAFile: options.CAFile,
			Timeout: seconds(options.Timeout), FinishTimeout: seconds(options.FinishTimeout), RetryFor: retryFor,
		})
		check(err)
	}
	for _, each := range options.Script {
		switch {
		case each.Will != "":
			one.fake.Will(each.Will, string(each.Members))
		case each.Fail != "":
			members := map[string]any{}
			if each.Members != nil {
				check(json.Unmarshal(each.Members, &members))
			}
			if each.RetryAfter != 0 {
				members["retry_after"] = each.RetryAfter
			}
			text, _ := json.Marshal(members)
			one.fake.WillFail(each.Fail, each.Status, each.Code, string(text))
		default:
			one.fake.WillNotAnswer(each.NoAnswer, each.Sent)
		}
	}
	clients[string(text)] = one
	return one
}

// with has the arguments of the calls.
type with struct {
	Provider     string            `json:"provider"`
	RedirectURI  string            `json:"redirect_uri"`
	SignIn       string            `json:"sign_in"`
	IDToken      string            `json:"id_token"`
	Nonce        *string           `json:"nonce"`
	SingleUse    bool              `json:"single_use"`
	Response     map[string]string `json:"response"`
	RefreshToken string            `json:"refresh_token"`
	Subject      string            `json:"subject"`
	Token        string            `json:"token"`
	Code         string            `json:"code"`
	Binding      string            `json:"binding"`
	AccessToken  string            `json:"access_token"`
	Method       string            `json:"method"`
	URL          string            `json:"url"`
}

func options[Options any](members json.RawMessage) (made Options) {
	check(json.Unmarshal(members, &made))
	return made
}

func call(client *assay.Client, asked asked) (any, error) {
	ctx, with := context.Background(), options[with](asked.With)
	switch asked.Call {
	case "begin":
		return client.Begin(ctx, with.Provider, options[assay.BeginOptions](asked.With))
	case "begin_in_browser":
		return client.BeginInBrowser(ctx, with.Provider, with.RedirectURI, options[assay.BeginBrowserOptions](asked.With))
	case "finish":
		return client.Finish(ctx, with.SignIn, with.IDToken, options[assay.FinishOptions](asked.With))
	case "finish_in_browser":
		more := options[assay.FinishBrowserOptions](asked.With)
		return client.FinishInBrowser(ctx, with.SignIn, with.Response, with.RedirectURI, more)
	case "refresh":
		return client.Refresh(ctx, with.Provider, with.RefreshToken, with.Subject, options[assay.RefreshOptions](asked.With))
	case "revoke":
		return nil, client.Revoke(ctx, with.Provider, with.Token, options[assay.RevokeOptions](asked.With))
	case "revoke_code":
		return nil, client.RevokeCode(ctx, with.Provider, with.Code, options[assay.RevokeCodeOptions](asked.With))
	case "proof":
		more := options[assay.ProofOptions](asked.With)
		return client.Proof(ctx, with.Provider, with.Binding, with.AccessToken, with.Method, with.URL, more)
	case "sign_out":
		return client.SignOut(ctx, with.Provider, options[assay.SignOutOptions](asked.With))
	case "verify":
		more := options[assay.VerifyOptions](asked.With)
		if with.SingleUse {
			return client.VerifyOnce(ctx, with.IDToken, with.Nonce, more)
		}
		return client.Verify(ctx, with.IDToken, with.Nonce, more)
	case "verify_access_token":
		return client.VerifyAccessToken(ctx, with.Token, options[assay.AccessTokenOptions](asked.With))
	}
	return client.VerifyNotification(ctx, options[assay.Sent](asked.With))
}

func answer(asked asked) map[string]any {
	if asked.Call == "codes" {
		codes := append([]string(nil), assay.Codes...)
		sort.Strings(codes)
		return map[string]any{"result": codes}
	}
	one := client(asked.Client)
	if asked.Call == "fake" {
		names := []string{}
		for _, request := range one.fake.Requests() {
			names = append(names, request.Call)
		}
		return map[string]any{"result": map[string]any{"requests": names, "waited": one.fake.Waited().Seconds()}}
	}
	if asked.Call == "example" {
		status, body := finish(context.Background(), one.client, "the-secret-handle", "the.secret.token")
		return map[string]any{"result": []any{status, body}}
	}
	result, err := call(one.client, asked)
	if err == nil {
		return map[string]any{"result": result, "printed": fmt.Sprintf("%v %+v", result, result)}
	}
	var problem *assay.Error
	if !errors.As(err, &problem) {
		return map[string]any{"failed": err.Error()}
	}
	kind := "error"
	if problem.IsRefused() {
		kind = "refused"
	} else if problem.IsUnavailable() {
		kind = "unavailable"
	}
	members := map[string]any{"kind": kind, "status": problem.Status, "spent": problem.Spent, "may_retry": problem.MayRetry()}
	texts := map[string]string{"code": problem.Code, "detail": problem.Detail, "request_id": problem.RequestID,
		"claim": problem.Claim, "provider_error": problem.ProviderError, "dpop_nonce": problem.DPoPNonce}
	for name, text := range texts {
		if text != "" {
			members[name] = text
		}
	}
	if problem.RetryAfter != 0 {
		members["retry_after"] = int(problem.RetryAfter.Seconds())
	}
	if problem.Challenge != nil {
		members["challenge"] = problem.Challenge
	}
	if problem.Context != nil {
		members["context"] = *problem.Context
	}
	return map[string]any{"error": members, "printed": fmt.Sprintf("%v %+v %#v", err, err, err)}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var one asked
		check(json.Unmarshal(lines.Bytes(), &one))
		text, err := json.Marshal(answer(one))
		check(err)
		fmt.Println(string(text))
	}
}
