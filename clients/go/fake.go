package assay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fake is a transport for your own tests, whose answers the test writes. All rules of the real client apply; waiting takes no
// time.
//
//	client, fake := assay.NewFake()
//	fake.Will("finish", `{"identity": {"subject": "user-1"}}`)
//	fake.WillFail("finish", 422, assay.CodeTokenExpired, "")
//	fake.WillNotAnswer("finish", true)
//
// Calls have the names begin, begin_in_browser, finish, finish_in_browser, refresh, revoke, revoke_code, proof, sign_out,
// verify, verify_access_token and verify_notification. Answers are used in their order, for each call. A call without one panics.
type Fake struct {
	mutex    sync.Mutex
	answers  map[string][]fakeAnswer
	requests []FakeRequest
	waited   time.Duration
}

// FakeRequest is a request that would have been sent.
type FakeRequest struct {
	Call    string
	Members map[string]any
}

type fakeAnswer struct {
	reply Reply
	err   error
}

// NewFake makes a client and its fake.
func NewFake() (*Client, *Fake) {
	fake := &Fake{answers: map[string][]fakeAnswer{}}
	client, _ := New(Options{Transport: fake})
	return client, fake
}

// Will lets a call succeed. changes is a JSON object, or empty: {"identity": {"subject": "user-1"}} keeps the example's other
// members.
func (fake *Fake) Will(call, changes string) {
	name := strings.TrimSuffix(call, "_code")
	if name == "revoke" {
		fake.add(name, fakeAnswer{reply: Reply{Status: 204}})
		return
	}
	var every map[string]any
	mustRead(examples, &every)
	body, _ := json.Marshal(mergedValue(every[name], object(changes)))
	status := 200
	if strings.HasPrefix(name, "begin") {
		status = 201
	}
	fake.add(name, fakeAnswer{reply: Reply{Status: status, Body: body}})
}

// WillFail lets a call fail with a problem. members is a JSON object, or empty, for example {"spent": true}.
func (fake *Fake) WillFail(call string, status int, code, members string) {
	problem := map[string]any{"status": status, "code": code, "detail": "scripted", "request_id": "fake"}
	for name, value := range object(members) {
		problem[name] = value
	}
	reply := Reply{Status: status}
	if seconds, ok := problem["retry_after"].(float64); ok {
		reply.RetryAfter = time.Duration(seconds) * time.Second
	}
	reply.Body, _ = json.Marshal(problem)
	fake.add(strings.TrimSuffix(call, "_code"), fakeAnswer{reply: reply})
}

// WillNotAnswer lets the connection fail: after the request was sent, or before.
func (fake *Fake) WillNotAnswer(call string, sent bool) {
	fake.add(strings.TrimSuffix(call, "_code"), fakeAnswer{err: NoAnswer{Sent: sent}})
}

// Requests has every request that would have been sent.
func (fake *Fake) Requests() []FakeRequest {
	fake.mutex.Lock()
	defer fake.mutex.Unlock()
	return append([]FakeRequest(nil), fake.requests...)
}

// Waited is how long the client would have waited before it sent a request again.
func (fake *Fake) Waited() time.Duration {
	fake.mutex.Lock()
	defer fake.mutex.Unlock()
	return fake.waited
}

func (fake *Fake) add(call string, answer fakeAnswer) {
	fake.mutex.Lock()
	defer fake.mutex.Unlock()
	fake.answers[call] = append(fake.answers[call], answer)
}

var fakePaths = map[string]string{
	"/v1/sign-ins": "begin", "/v1/sign-ins/finish": "finish", "/v1/grants/refresh": "refresh", "/v1/grants/revoke": "revoke",
	"/v1/verify": "verify", "/v1/notifications/verify": "verify_notification", "/v1/access-tokens/verify": "verify_access_token",
	"/v1/sign-outs": "sign_out", "/v1/grants/proof": "proof",
}

// Send is for the client.
func (fake *Fake) Send(_ context.Context, path string, body []byte, _ http.Header, _ bool) (Reply, error) {
	fake.mutex.Lock()
	defer fake.mutex.Unlock()
	members := object(string(body))
	call := fakePaths[path]
	if call == "begin" && members["redirect_uri"] != nil || call == "finish" && members["response"] != nil {
		call += "_in_browser"
	}
	fake.requests = append(fake.requests, FakeRequest{call, members})
	if len(fake.answers[call]) == 0 {
		panic(fmt.Sprintf("no answer is left for %s: call Will(%q, …) first", call, call))
	}
	answer := fake.answers[call][0]
	fake.answers[call] = fake.answers[call][1:]
	return answer.reply, answer.err
}

// Now is for the client.
func (fake *Fake) Now() time.Time { return time.Unix(0, 0).Add(fake.Waited()) }

// Sleep is for the client.
func (fake *Fake) Sleep(_ context.Context, duration time.Duration) error {
	fake.mutex.Lock()
	defer fake.mutex.Unlock()
	fake.waited += duration
	return nil
}

func object(text string) map[string]any {
	members := map[string]any{}
	if text != "" {
		mustRead(text, &members)
	}
	return members
}

func mustRead(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(fmt.Sprintf("not a JSON object: %v", err))
	}
}

func mergedValue(example, changes any) any {
	old, isObject := example.(map[string]any)
	more, areMembers := changes.(map[string]any)
	if !isObject || !areMembers {
		return changes
	}
	for name, value := range more {
		old[name] = mergedValue(old[name], value)
	}
	return old
}
