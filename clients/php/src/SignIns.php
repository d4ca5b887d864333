<?php

declare(strict_types=1);

namespace Assay;

use Closure;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;
use SensitiveParameter;

/**
 * Sign-ins in the browser, as a middleware (PSR-15): /sign-in/{provider}?return_to=/path redirects to the provider, and
 * /callback/{provider} is the redirect URI. The site needs HTTPS, or the host localhost.
 *
 *     $app->add(new SignIns($assay, 'https://example.com', ['apple' => 'com.example.web'], $responses, $signedIn));
 */
final class SignIns implements MiddlewareInterface
{
    private const LARGEST_FORM = 65_536;
    /** A path that begins with two slashes would be another site's. */
    private const OWN_PATH = '~\A/(?![/\\\\])[\x21-\x7e]{0,500}\z~';
    /** The URL of a callback contains a code, which no other site may see. */
    private const COMMON = ['Cache-Control' => 'no-store', 'Referrer-Policy' => 'same-origin'];

    private readonly string $origin;
    private readonly Closure $signedIn;
    /** @var array<string, mixed> */
    private readonly array $options;

    /**
     * $origin is the site's. $providers has the client of each provider. $signedIn gets the request and the FinishedSignIn, starts
     * a session, with a new ID, and returns a response. $options are more options of beginInBrowser, such as scopes.
     *
     * @param array<string, string> $providers
     * @param callable(ServerRequestInterface, FinishedSignIn): ResponseInterface $signedIn
     */
    public function __construct(
        private readonly Client $assay,
        string $origin,
        private readonly array $providers,
        private readonly ResponseFactoryInterface $responses,
        callable $signedIn,
        mixed ...$options,
    ) {
        $this->origin = rtrim($origin, '/');
        $this->signedIn = $signedIn(...);
        $this->options = $options;
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        preg_match('~\A/(sign-in|callback)/([^/]+)\z~', $request->getUri()->getPath(), $found);
        [, $kind, $provider] = $found + [null, null, ''];
        $query = $request->getUri()->getQuery();
        return match ([$kind, $request->getMethod()]) {
            ['sign-in', 'GET'] => $this->begin($provider, self::pairs($query)),
            ['callback', 'GET'] => $this->finish($request, $provider, $query),
            ['callback', 'POST'] => $this->finish($request, $provider, self::form($request)),
            default => $handler->handle($request),
        };
    }

    /** @param list<array{string, string}> $parameters */
    private function begin(string $provider, array $parameters): ResponseInterface
    {
        if (!isset($this->providers[$provider])) {
            return $this->answer(404, 'Not found.');
        }
        $path = array_column($parameters, 1, 0)['return_to'] ?? '/';
        $context = preg_match(self::OWN_PATH, $path) === 1 ? $path : '/';
        $options = ['audience' => $this->providers[$provider], 'context' => $context] + $this->options;
        try {
            $begun = $this->assay->beginInBrowser($provider, $this->redirectUri($provider), ...$options);
        } catch (AssayException $error) {
            error_log("begin: {$error->getMessage()}");
            $status = $error->mayRetry() ? 503 : 500;
            return $this->answer($status, 'Signing in is not possible right now. Please try again later.');
        }
        // The provider's page posts a form from another site, and browsers send no Lax cookie with it.
        // A request that was pushed or signed does not show how it is answered.
        $posts = preg_match('/response_mode=form_post|request=|request_uri=/', $begun->authorizationUrl) === 1;
        $cookie = self::cookie("__Host-sign-in-$begun->state", $begun->signIn, 600, $posts ? 'None' : 'Lax');
        return $this->answer(303, '', ['Location' => $begun->authorizationUrl, 'Set-Cookie' => $cookie]);
    }

    private function finish(
        ServerRequestInterface $request,
        string $provider,
        #[SensitiveParameter] string $text,
    ): ResponseInterface {
        if (strlen($text) > self::LARGEST_FORM) {
            return $this->answer(413, 'That did not work.');
        }
        $every = self::pairs($text);
        $response = array_column($every, 1, 0);
        $name = '__Host-sign-in-' . ($response['state'] ?? '');
        // The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
        $signIn = self::cookieValue(implode(';', $request->getHeader('Cookie')), $name);
        if (!isset($this->providers[$provider]) || $signIn === null || count($response) !== count($every)) {
            $text = 'This sign-in was begun in another browser, or too long ago. Please sign in again.';
            return $this->answer(400, $text);
        }
        $done = ['Set-Cookie' => self::cookie($name, '', 0, 'Lax')];
        try {
            $finished = $this->assay->finishInBrowser($signIn, $response, $this->redirectUri($provider));
        } catch (AssayException $error) {
            return $this->failed($error, $done);
        }
        $answer = ($this->signedIn)($request, $finished)->withAddedHeader('Set-Cookie', $done['Set-Cookie']);
        foreach (self::COMMON as $field => $value) {
            $answer = $answer->hasHeader($field) ? $answer : $answer->withHeader($field, $value);
        }
        return $answer;
    }

    /** @param array<string, string> $done */
    private function failed(AssayException $error, array $done): ResponseInterface
    {
        if ($error->problem === Code::SIGN_IN_DENIED) {
            $path = (string) $error->context;
            return $this->answer(303, '', ['Location' => preg_match(self::OWN_PATH, $path) === 1 ? $path : '/'] + $done);
        }
        error_log("finish: {$error->getMessage()}");
        if ($error->mayRetry()) {
            // The cookie stays, so that reloading the page repeats the finish.
            return $this->answer(503, 'Signing in takes longer than usual. Please reload this page in a moment.');
        }
        $status = in_array($error->status, [0, 422, 503], true) ? 400 : 500;
        return $this->answer($status, 'That did not work. Please sign in again.', $done);
    }

    private function redirectUri(string $provider): string
    {
        return "$this->origin/callback/$provider";
    }

    /** @param array<string, string> $headers */
    private function answer(int $status, string $text, array $headers = []): ResponseInterface
    {
        $response = $this->responses->createResponse($status);
        foreach ($headers + self::COMMON + ['Content-Type' => 'text/plain; charset=utf-8'] as $name => $value) {
            $response = $response->withHeader($name, $value);
        }
        $response->getBody()->write($text);
        return $response;
    }

    /** Also if another middleware has read it. */
    private static function form(ServerRequestInterface $request): string
    {
        $body = $request->getBody();
        if ($body->isSeekable()) {
            $body->rewind();
        }
        $text = '';
        while (!$body->eof() && strlen($text) <= self::LARGEST_FORM) {
            $text .= $body->read(self::LARGEST_FORM + 1 - strlen($text));
        }
        return $text;
    }

    /** @return list<array{string, string}> */
    private static function pairs(#[SensitiveParameter] string $text): array
    {
        $parts = array_filter(explode('&', $text), fn (string $part) => $part !== '');
        return array_map(fn (string $part) => array_map(urldecode(...), explode('=', $part, 2) + ['', '']), array_values($parts));
    }

    /** Sent only to this host over HTTPS, and hidden from scripts. */
    private static function cookie(string $name, #[SensitiveParameter] string $value, int $seconds, string $sameSite): string
    {
        return "$name=$value; Max-Age=$seconds; Path=/; Secure; HttpOnly; SameSite=$sameSite";
    }

    /**
     * A cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers, such as PHP's own, let other sites plant
     * a __Host- cookie. Two cookies of one name count as none, because one of them may be an attacker's.
     */
    private static function cookieValue(#[SensitiveParameter] string $header, string $name): ?string
    {
        $values = [];
        foreach (explode(';', $header) as $pair) {
            $pair = trim($pair, " \t");
            if (str_starts_with($pair, "$name=")) {
                $values[] = substr($pair, strlen($name) + 1);
            }
        }
        return count($values) === 1 ? $values[0] : null;
    }
}
