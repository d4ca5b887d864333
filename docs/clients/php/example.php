<?php

// The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
//
//   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
//   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
//   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
//
// The other calls work the same way, by name. A real backend never sends a grant to an app.

declare(strict_types=1);

require __DIR__ . '/Assay.php';
require __DIR__ . '/Receiver.php';

use Assay\{AssayException, Client, Notification, Receiver, Refused, Unavailable, Verified};

$assay = new Client(getenv('ASSAY_URL') ?: 'http://127.0.0.1:8080', getenv('ASSAY_API_KEY') ?: null);

// Stand in for the database.
$known = [];
$done = [];
$receiver = new Receiver($assay, function (Notification $notification) use (&$known, &$done): void {
    $key = "$notification->provider $notification->id";
    if (!isset($known[$key])) {
        $done = array_map(fn ($event) => $event->type, $notification->events);
    }
    $known[$key] = true;
});

function without(array $members, string ...$names): array
{
    return array_diff_key($members, array_flip($names));
}

function answer(Client $assay, array $request): array
{
    if ($begin = $request['begin'] ?? null) {
        return ['begun' => $assay->begin($begin['provider'], without($begin, 'provider'))];
    }
    if ($begin = $request['begin_in_browser'] ?? null) {
        $more = without($begin, 'provider', 'redirect_uri');
        return ['begun_in_browser' => $assay->beginInBrowser($begin['provider'], $begin['redirect_uri'], $more)];
    }
    if ($finish = $request['finish'] ?? null) {
        $more = without($finish, 'sign_in', 'id_token');
        return ['finished' => $assay->finish($finish['sign_in'], $finish['id_token'] ?? null, $more)];
    }
    if ($finish = $request['finish_in_browser'] ?? null) {
        $redirectURI = $finish['redirect_uri'] ?? null;
        return ['finished' => $assay->finishInBrowser($finish['sign_in'], $finish['response'], $redirectURI)];
    }
    if ($refresh = $request['refresh'] ?? null) {
        $more = without($refresh, 'provider', 'refresh_token', 'subject');
        return ['refreshed' => $assay->refresh($refresh['provider'], $refresh['refresh_token'], $refresh['subject'], $more)];
    }
    if ($revoke = $request['revoke'] ?? null) {
        $assay->revoke($revoke['provider'], $revoke['token'], without($revoke, 'provider', 'token'));
        return ['revoked' => true];
    }
    if ($revoke = $request['revoke_by_code'] ?? null) {
        $assay->revokeByCode($revoke['provider'], $revoke['code'], without($revoke, 'provider', 'code'));
        return ['revoked' => true];
    }
    $verify = $request['verify'];
    $verdict = $assay->verify(
        $verify['provider'],
        $verify['id_token'],
        $verify['nonce'] ?? null,
        without($verify, 'provider', 'id_token', 'nonce', 'single_use'),
        $verify['single_use'] ?? false,
    );
    return match (true) {
        $verdict instanceof Verified => ['verified' => $verdict->identity],
        $verdict instanceof Refused => ['refused' => $verdict->code],
        $verdict instanceof Unavailable => ['unavailable' => $verdict->retryAfter],
    };
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $request = json_decode($line, associative: true, flags: JSON_THROW_ON_ERROR);
        if ($receive = $request['receive'] ?? null) {
            $done = [];
            $said = ['answered' => $receiver->receive($receive['content_type'], $receive['body']), 'done' => &$done];
        } else {
            $said = answer($assay, $request);
        }
    } catch (AssayException $error) {
        // The text of the error is for the log. It has no token and no handle.
        $said = ['error' => $error->status, 'code' => $error->problem, 'spent' => $error->spent];
        $said += ['log' => $error->getMessage(), 'provider_error' => $error->providerError, 'context' => $error->context];
    }
    echo json_encode($said, JSON_THROW_ON_ERROR), "\n";
}
