/// Parses and formats quantities with units.
enum Quantities {
    /// Seconds of a duration such as `0s`, `60s`, `5m`, `24h` or `7d`; `nil` for anything else.
    static func seconds(_ text: String) -> Int64? {
        quantity(text, units: ["s": 1, "m": 60, "h": 3600, "d": 86400])
    }

    /// Milliseconds of a duration such as `250ms`, `2s` or `1m`; `nil` for anything else.
    static func milliseconds(_ text: String) -> Int64? {
        quantity(text, units: ["ms": 1, "s": 1000, "m": 60_000])
    }

    /// Bytes of a size such as `65536`, `512B`, `64KiB` or `4MiB`.
    static func bytes(_ text: String) -> Int? {
        quantity(text, units: ["": 1, "B": 1, "KiB": 1024, "MiB": 1024 * 1024]).map(Int.init)
    }

    /// A duration, in the largest unit that expresses it exactly.
    static func text(seconds: Int64) -> String {
        for (unit, size) in [("d", 86400), ("h", 3600), ("m", 60)] as [(String, Int64)]
        where seconds > size && seconds.isMultiple(of: size) { return "\(seconds / size)\(unit)" }
        return "\(seconds)s"
    }

    /// A size, in the largest unit that expresses it exactly.
    static func text(bytes: Int) -> String {
        for (unit, size) in [("MiB", 1024 * 1024), ("KiB", 1024)] where bytes >= size && bytes.isMultiple(of: size) {
            return "\(bytes / size)\(unit)"
        }
        return "\(bytes)B"
    }

    private static func quantity(_ text: String, units: [String: Int64]) -> Int64? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard !digits.isEmpty, let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))] else {
            return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }
}
