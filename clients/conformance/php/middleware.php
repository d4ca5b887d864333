<?php

use Assay\Client;
use Assay\FinishedSignIn;
use Assay\SignIns;
use Psr\Http\Message\ResponseFactoryInterface;

/** Signs in with Apple. The user begins at /sign-in/apple. `$start` starts a session. */
function middleware(Client $assay, ResponseFactoryInterface $responses, callable $start): SignIns
{
    $signedIn = function ($_, FinishedSignIn $finished) use ($responses, $start) {
        // A new session, so that nobody who knows the old one is signed in.
        $start($finished->identity);
        return $responses->createResponse(303)->withHeader('Location', $finished->context ?? '/');
    };
    $providers = ['apple' => 'com.example.web'];
    return new SignIns($assay, 'https://example.com', $providers, $responses, $signedIn, scopes: ['name', 'email']);
}
