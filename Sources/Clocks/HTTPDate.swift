/// Dates as HTTP writes them today: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Unix seconds; `nil` for anything else, the obsolete formats among it.
    package static func seconds(from text: String) -> Int64? {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" })
        guard parts.count == 8, parts[7] == "GMT", let day = Int64(parts[1]),
            let month = months.firstIndex(of: String(parts[2])),
            let year = Int64(parts[3]), let hour = Int64(parts[4]), let minute = Int64(parts[5]),
            let second = Int64(parts[6]), (1...31).contains(day), (0...9999).contains(year), (0..<24).contains(hour),
            (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86400 + hour * 3600 + minute * 60 + second
    }

    package static func text(unixSeconds: Int64) -> String {
        let (days, rest) = (unixSeconds / 86400, unixSeconds % 86400)
        let (year, month, day) = civil(days: days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let weekday = weekdays[Int(days % 7)]
        let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(day)) \(months[Int(month) - 1]) \(year) \(time) GMT"
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March here, so that leap days come last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
