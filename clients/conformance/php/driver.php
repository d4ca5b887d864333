<?php

// Runs the conformance cases with the installed package: reads calls as JSON, one per line, and writes what they return.

declare(strict_types=1);

use Assay\AssayException;
use Assay\Client;
use Assay\Code;
use Assay\FakeClient;
use Assay\Refused;
use Assay\Unavailable;

require __DIR__ . '/vendor/autoload.php';
require __DIR__ . '/example.php';

const ARGUMENTS = [
    'begin' => ['provider'], 'begin_in_browser' => ['provider', 'redirect_uri'], 'finish' => ['sign_in', 'id_token'],
    'finish_in_browser' => ['sign_in', 'response', 'redirect_uri'], 'refresh' => ['provider', 'refresh_token', 'subject'],
    'revoke' => ['provider', 'token'], 'revoke_code' => ['provider', 'code'], 'verify' => ['id_token', 'nonce', 'single_use'],
    'verify_access_token' => ['token'], 'verify_notification' => [], 'sign_out' => ['provider'],
    'proof' => ['provider', 'binding', 'access_token', 'method', 'url'],
];

function camel(string $name): string
{
    return lcfirst(str_replace('_', '', ucwords($name, '_')));
}

function snake(string $name): string
{
    return strtolower(preg_replace('/[A-Z]/', '_$0', $name));
}

function client(array $options): Client
{
    static $clients = [];
    $name = json_encode($options);
    if (isset($clients[$name])) {
        return $clients[$name];
    }
    $script = $options['script'] ?? null;
    unset($options['script'], $options['case']);
    $named = [];
    foreach ($options as $option => $value) {
        $named[camel($option)] = $value;
    }
    if ($script === null) {
        return $clients[$name] = new Client(...$named);
    }
    $fake = new FakeClient();
    foreach ($script as $act) {
        $members = $act['members'] ?? [];
        if (isset($act['will'])) {
            $fake->will(camel($act['will']), ...$members);
        } elseif (isset($act['fail'])) {
            $fake->willFail(camel($act['fail']), $act['status'], $act['code'], $act['retry_after'] ?? null, ...$members);
        } else {
            $fake->willNotAnswer(camel($act['no_answer']), $act['sent']);
        }
    }
    return $clients[$name] = $fake;
}

function tree(mixed $value): mixed
{
    if (is_object($value)) {
        $members = [];
        foreach (get_object_vars($value) as $name => $member) {
            $members[snake($name)] = in_array($name, ['claims', 'data', 'parameters'], true) ? $member : tree($member);
        }
        return $members;
    }
    return is_array($value) ? array_map(tree(...), $value) : $value;
}

function printed(mixed $value): string
{
    ob_start();
    var_dump($value);
    return ob_get_clean();
}

function answer(array $asked): array
{
    if ($asked['call'] === 'codes') {
        $codes = Code::ALL;
        sort($codes);
        return ['result' => $codes];
    }
    $assay = client($asked['client']);
    if ($asked['call'] === 'fake') {
        $names = array_map(fn ($each) => snake($each[0]), $assay->requests());
        return ['result' => ['requests' => $names, 'waited' => $assay->waited()]];
    }
    if ($asked['call'] === 'example') {
        return ['result' => finish($assay, 'the-secret-handle', 'the.secret.token')];
    }
    $arguments = [];
    foreach ($asked['with'] as $name => $value) {
        $arguments[in_array($name, ARGUMENTS[$asked['call']], true) ? camel($name) : $name] = $value;
    }
    try {
        $result = $assay->{camel($asked['call'])}(...$arguments);
        return ['result' => tree($result), 'printed' => printed($result)];
    } catch (AssayException $error) {
        $kind = match (true) {
            $error instanceof Refused => 'refused',
            $error instanceof Unavailable => 'unavailable',
            default => 'error',
        };
        $members = ['kind' => $kind, 'may_retry' => $error->mayRetry(), 'code' => $error->problem];
        foreach (['status', 'detail', 'spent', 'retryAfter', 'requestId', 'claim', 'providerError', 'context', 'challenge', 'dpopNonce'] as $name) {
            $members[snake($name)] = tree($error->$name);
        }
        return ['error' => $members, 'printed' => "$error"];
    }
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $said = answer(json_decode($line, true, flags: JSON_THROW_ON_ERROR));
    } catch (Throwable $failure) {
        $said = ['failed' => "$failure"];
    }
    echo json_encode($said, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
}
