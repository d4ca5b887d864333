private import Bytes

/// Timestamps in the format of RFC 3339.
package enum Timestamp {
    /// For example `2026-11-21T09:18:00.125Z`.
    package static func text(unixMilliseconds: Int64) -> String {
        let (date, time) = CivilDate.split(unixSeconds: unixMilliseconds / 1000)
        return "\(date.text)T\(clock(time)).\(padded(unixMilliseconds % 1000, 3))Z"
    }
}
