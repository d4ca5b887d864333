<?php

declare(strict_types=1);

use Assay\AssayException;
use Assay\Client;
use Assay\Event;
use Assay\Notification;

/** Receives notifications from providers: Apple's, logout tokens and security events, all at one URL. */
final class Receiver
{
    /**
     * @param Closure(Notification, list<Event>): void $once acts on a notification's events unless it has done so before. In one
     *     transaction: insert `provider` and `id` into `notifications`; if they were there already, do nothing; otherwise act on
     *     each event
     */
    public function __construct(private readonly Client $assay, private readonly Closure $once)
    {
    }

    /** Returns the status for the response to the sender. Assay's log has the reason for a refusal. */
    public function receive(string $contentType, #[SensitiveParameter] string $body): int
    {
        $sent = self::message($contentType, $body);
        if ($sent === null) {
            return 400;
        }
        try {
            $verified = $this->assay->verifyNotification(...$sent);
        } catch (AssayException $error) {
            return match (true) {
                $error->mayRetry() => 503, // The sender tries again later.
                in_array($error->status, [400, 404, 422], true) => 400, // Another delivery would not help.
                default => 500,
            };
        }
        // If it throws, answer with 500: the sender tries again, and nothing is marked as processed.
        ($this->once)($verified->notification, $verified->events);
        return 200;
    }

    /** @return ?array<string, mixed> the request for Assay; null if it is not a notification */
    private static function message(string $contentType, #[SensitiveParameter] string $body): ?array
    {
        switch (strtolower(trim(explode(';', $contentType)[0]))) {
            case 'application/x-www-form-urlencoded':
                parse_str($body, $form);
                return is_string($form['logout_token'] ?? null) ? ['token' => $form['logout_token']] : null;
            case 'application/secevent+jwt':
                return ['token' => trim($body)];
            default:
                $payload = json_decode($body, associative: true);
                return is_array($payload) ? ['payload' => $payload] : null;
        }
    }
}
