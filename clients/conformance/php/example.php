<?php

use Assay\AssayException;
use Assay\Client;
use Assay\Refused;

/** Finishes an app's sign-in: the status and the body of the response. */
function finish(Client $assay, string $signIn, string $idToken): array
{
    try {
        $identity = $assay->finish($signIn, $idToken)->identity;
        // Find or create the user with these two, and start a session.
        return [200, ['issuer' => $identity->issuer, 'subject' => $identity->subject]];
    } catch (AssayException $error) {
        error_log("sign-in: {$error->getMessage()}");
        return match (true) {
            $error->mayRetry() => [503, ['error' => 'try again later']],
            $error->spent || $error instanceof Refused => [401, ['error' => 'start a new sign-in']],
            default => [500, ['error' => 'internal error']],
        };
    }
}
