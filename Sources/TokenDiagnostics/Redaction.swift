private import Bytes
package import IDToken
internal import OpenSSL

/// Makes values from a token safe to show: bounded, harmless in a terminal, and without secrets.
package enum Redaction {
    private static let maximumLength = 200

    /// Printable ASCII, and everything else as `\u{…}`, so that no character imitates another.
    static func text(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(maximumLength)
        return scalars.map { (" "..."~").contains($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
            + (scalars.count < text.unicodeScalars.count ? "…" : "")
    }

    static func quoted(_ text: String) -> String { "“" + self.text(text) + "”" }

    /// - Parameter maximumCount: the maximum number of texts to show.
    package static func list(_ texts: [String], maximumCount: Int = 20) -> String {
        texts.prefix(maximumCount).map(text).joined(separator: ", ")
            + (texts.count > maximumCount ? " and \(texts.count - maximumCount) more" : "")
    }

    /// For a secret: its length and the first 32 bits of its SHA-256, so that people can compare two of them.
    static func fingerprint(_ secret: Span<UInt8>, _ checker: SignatureChecker) -> String {
        var characters = 0
        for index in secret.indices where secret[index] & 0xc0 != 0x80 { characters += 1 }
        let length = characters == 1 ? "1 character" : "\(characters) characters"
        let digest = try? checker.withDigest(of: secret, .sha256) { String(hexadecimal: $0.extracting(..<4)) }
        return length + (digest.map { ", SHA-256 " + $0 + "…" } ?? "")
    }

    static func fingerprint(_ secret: String, _ checker: SignatureChecker) -> String {
        fingerprint(secret.utf8.span, checker)
    }

    /// A number of seconds in the most readable unit.
    static func duration(_ seconds: Int64) -> String {
        let seconds = seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

extension UnixTime {
    /// The seconds from another time to this one; saturates.
    func seconds(since other: UnixTime) -> Int64 {
        let (difference, overflow) = seconds.subtractingReportingOverflow(other.seconds)
        return overflow ? (seconds < 0 ? .min : .max) : difference
    }
}

extension Redaction {
    /// A time and its distance from now: `2026-11-21T09:18:00Z (5 min ago)`.
    package static func time(_ time: UnixTime, now: UnixTime) -> String {
        let seconds = time.seconds(since: now)
        let distance =
            switch seconds {
            case 0: "now"
            case 1...: "in \(duration(seconds))"
            default: "\(duration(seconds)) ago"
            }
        return "\(self.time(time)) (\(distance))"
    }

    /// A time in ISO 8601, in UTC; outside the years 0 to 9999, the Unix time.
    static func time(_ time: UnixTime) -> String {
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        guard (-62_167_219_200...253_402_300_799).contains(time.seconds) else { return "Unix time \(time.seconds)" }
        let (date, second) = CivilDate.split(unixSeconds: time.seconds)
        return "\(date.text)T\(clock(second))Z"
    }
}
