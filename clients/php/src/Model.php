<?php

declare(strict_types=1);

namespace Assay;

/**
 * Reads answers. Unknown members are ignored, so that a newer Assay can add some.
 *
 * @internal
 */
trait Model
{
    public static function of(mixed $members): self
    {
        if (!is_array($members)) {
            throw new NotAssays();
        }
        $values = [];
        foreach (self::KINDS as $name => $kind) {
            $values[] = self::value($members[$name] ?? null, $kind);
        }
        return new self(...$values);
    }

    /** @return array<string, mixed> without secrets */
    public function __debugInfo(): array
    {
        return array_diff_key(get_object_vars($this), array_flip(self::SECRETS));
    }

    private static function value(mixed $value, string $described): mixed
    {
        $kind = rtrim($described, '?');
        if ($value === null && $kind !== $described) {
            return null;
        }
        if ($kind[0] === '[' && is_array($value)) {
            return array_map([__NAMESPACE__ . '\\' . trim($kind, '[]'), 'of'], $value);
        }
        $fits = match ($kind) {
            'string' => is_string($value),
            'integer' => is_int($value),
            'boolean' => is_bool($value),
            'object' => is_array($value),
            'texts' => is_array($value) && array_filter($value, is_string(...)) === $value,
            'strings' => is_array($value) && array_filter($value, is_string(...)) === $value,
            default => null,
        };
        if ($fits === null && $kind[0] !== '[') {
            return (__NAMESPACE__ . '\\' . $kind)::of($value);
        }
        return $fits === true ? $value : throw new NotAssays();
    }
}
