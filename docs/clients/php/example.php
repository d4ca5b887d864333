<?php

// Reads sign-ins as JSON, one a line, and says of each what Assay said.

declare(strict_types=1);

require __DIR__ . '/Assay.php';

use Assay\{AssayException, Client, Refused, Unavailable, Verified};

$assay = new Client(getenv('ASSAY_URL') ?: 'http://127.0.0.1:8080', getenv('ASSAY_API_KEY') ?: null);

while (($line = fgets(STDIN)) !== false) {
    $signIn = json_decode($line, associative: true, flags: JSON_THROW_ON_ERROR);
    $more = array_diff_key($signIn, array_flip(['provider', 'id_token', 'nonce']));
    try {
        $verdict = $assay->verify($signIn['provider'], $signIn['id_token'], $signIn['nonce'] ?? null, $more);
        $said = match (true) {
            $verdict instanceof Verified => ['verified' => $verdict->identity],
            $verdict instanceof Refused => ['refused' => $verdict->code],
            $verdict instanceof Unavailable => ['unavailable' => $verdict->retryAfter],
        };
    } catch (AssayException $error) {
        $said = ['error' => $error->status, 'code' => $error->problem];
    }
    echo json_encode($said, JSON_THROW_ON_ERROR), "\n";
}
