<?php

// Posts notifications to docs/clients/php/Receiver.php: reads them as JSON, one per line, and writes what it did.

declare(strict_types=1);

$repository = __DIR__ . '/../../../..';
spl_autoload_register(function (string $class) use ($repository): void {
    $file = "$repository/clients/php/src/" . substr($class, strlen('Assay\\')) . '.php';
    require_once is_file($file) ? $file : "$repository/clients/php/src/Models.php";
});
require "$repository/docs/clients/php/Receiver.php";

$assay = new Assay\Client(getenv('ASSAY_URL'), getenv('ASSAY_API_KEY') ?: null, retryFor: 0);
// Stands in for the database.
$known = $done = [];
$receiver = new Receiver($assay, function (Assay\Notification $notification, array $events) use (&$known, &$done): void {
    $key = "$notification->provider $notification->id";
    if (!isset($known[$key])) {
        array_push($done, ...array_map(fn (Assay\Event $event) => $event->type, $events));
    }
    $known[$key] = true;
});

while (($line = fgets(STDIN)) !== false) {
    $done = [];
    $sent = json_decode($line, true)['receive'];
    $answered = $receiver->receive($sent['content_type'], $sent['body']);
    echo json_encode(['answered' => $answered, 'done' => $done]), "\n";
}
