private import Bytes
package import IDToken

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
