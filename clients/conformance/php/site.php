<?php

// A site with the package's middleware: reads requests as JSON, one per line, and writes responses.

declare(strict_types=1);

namespace Psr\Http\Server {
    // PSR-15, word for word. Debian has no package of it.
    interface RequestHandlerInterface
    {
        public function handle(\Psr\Http\Message\ServerRequestInterface $request): \Psr\Http\Message\ResponseInterface;
    }

    interface MiddlewareInterface
    {
        public function process(
            \Psr\Http\Message\ServerRequestInterface $request,
            RequestHandlerInterface $handler,
        ): \Psr\Http\Message\ResponseInterface;
    }
}

namespace {
    use Assay\Client;
    use Assay\FinishedSignIn;
    use Assay\SignIns;
    use Nyholm\Psr7\Factory\Psr17Factory;
    use Nyholm\Psr7\Response;
    use Nyholm\Psr7\ServerRequest;
    use Psr\Http\Message\ResponseInterface;
    use Psr\Http\Message\ServerRequestInterface;
    use Psr\Http\Server\RequestHandlerInterface;

    require __DIR__ . '/vendor/autoload.php';
    require 'Nyholm/Psr7/autoload.php';
    require __DIR__ . '/middleware.php';

    $nobody = new class implements RequestHandlerInterface {
        public function handle(ServerRequestInterface $request): ResponseInterface
        {
            return new Response(404);
        }
    };

    ini_set('error_log', '/dev/null');
    if ($argv[1] === 'fake') {
        $assay = new Assay\FakeClient();
        $assay->will('beginInBrowser', state: 's', authorization_url: 'https://appleid.apple.com/auth?response_mode=form_post');
        $assay->will('finishInBrowser', context: '/basket');
        $site = middleware($assay, new Psr17Factory(), fn () => null);
    } else {
        $assay = new Client($argv[1], apiKey: $argv[2], retryFor: 0);
        $clients = ['oidc' => 'client', 'down' => 'client'];
        $site = new SignIns($assay, 'https://example.com', $clients, new Psr17Factory(), function ($_, FinishedSignIn $finished) {
            $said = ['subject' => $finished->identity->subject, 'context' => $finished->context];
            return new Response(200, [], json_encode($said));
        });
    }

    while (($line = fgets(STDIN)) !== false) {
        $asked = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
        $headers = ['Cookie' => $asked['cookie'], 'Content-Type' => 'application/x-www-form-urlencoded'];
        $response = $site->process(new ServerRequest($asked['method'], $asked['path'], $headers, $asked['body']), $nobody);
        $location = $response->getHeader('Location')[0] ?? null;
        $said = ['status' => $response->getStatusCode(), 'location' => $location, 'cookies' => $response->getHeader('Set-Cookie')];
        echo json_encode($said + ['body' => (string) $response->getBody()], JSON_THROW_ON_ERROR), "\n";
    }
}
