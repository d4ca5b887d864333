package assay

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// NoAnswer is a connection that failed. Sent: Assay may have got the request anyway. Detail: where; unless Sent, also why.
type NoAnswer struct {
	Sent   bool
	Detail string
}

func (failure NoAnswer) Error() string {
	if failure.Detail == "" {
		return "no answer"
	}
	return "no answer: " + failure.Detail
}

// Reply is an HTTP response.
type Reply struct {
	Status     int
	Body       []byte
	RetryAfter time.Duration
}

// Transport is how a client reaches Assay; a test may have its own. Send returns NoAnswer as an error. Once: over a new
// connection, which nobody has closed as idle.
type Transport interface {
	Send(ctx context.Context, path string, body []byte, headers http.Header, once bool) (Reply, error)
	Now() time.Time
	Sleep(ctx context.Context, duration time.Duration) error
}

// An HTTP transport follows no redirect and uses no proxy: only Assay may see a token.
type httpTransport struct {
	base string
	// For errors: without what a URL may have before its host, or after.
	place string
	kept  http.Client
	once  http.Client
}

func newTransport(address string, config *tls.Config) (*httpTransport, error) {
	given := address
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSClientConfig: config}
	if path := strings.TrimPrefix(address, "unix:"); path != address {
		address = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("assay: the URL must begin with http://, https:// or unix:; found %q", given)
	}
	place := given
	if address == given {
		place = parsed.Scheme + "://" + parsed.Host
	}
	once := transport.Clone()
	once.DisableKeepAlives = true
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &httpTransport{
		base:  strings.TrimRight(address, "/"),
		place: place,
		kept:  http.Client{Transport: transport, CheckRedirect: noRedirect},
		once:  http.Client{Transport: once, CheckRedirect: noRedirect},
	}, nil
}

func (transport *httpTransport) Send(ctx context.Context, path string, body []byte, headers http.Header, once bool) (Reply, error) {
	// Set by net/http's goroutine, which has ended when Do returns an error, or has sent the request.
	connected := make(chan struct{}, 1)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		select {
		case connected <- struct{}{}:
		default:
		}
	}})
	method := http.MethodPost
	if len(body) == 0 {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(ctx, method, transport.base+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	request.Header = headers
	// net/http must not send it again by itself.
	request.GetBody = nil
	client := &transport.kept
	if once {
		client = &transport.once
	}
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, transport.lost(len(connected) > 0, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Reply{}, transport.lost(true, err)
	}
	reply := Reply{Status: response.StatusCode, Body: text}
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 30); err == nil {
		reply.RetryAfter = time.Duration(seconds) * time.Second
	}
	return reply, nil
}

// Once the request was sent, the failure's text may have something of it.
func (transport *httpTransport) lost(sent bool, err error) NoAnswer {
	if sent {
		return NoAnswer{true, "no whole answer came from " + transport.place}
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return NoAnswer{false, "can't connect to " + transport.place + ": " + err.Error()}
}

func (*httpTransport) Now() time.Time { return time.Now() }

func (*httpTransport) Sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
