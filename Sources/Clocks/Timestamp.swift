/// Moments as RFC 3339 writes them.
package enum Timestamp {
    /// Such as `2026-11-21T09:18:00.125Z`.
    package static func text(unixMilliseconds: Int64) -> String {
        let seconds = unixMilliseconds / 1000
        let (year, month, day) = HTTPDate.civil(days: seconds / 86400)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(seconds / 3600 % 24, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        return "\(date)T\(time).\(padded(unixMilliseconds % 1000, 3))Z"
    }
}
