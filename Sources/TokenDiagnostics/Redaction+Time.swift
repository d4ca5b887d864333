package import IDToken

extension Redaction {
    /// A moment and how far it is from now: `2026-11-21T09:18:00Z (5 min ago)`.
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

    /// A moment as ISO 8601 writes it, in UTC; beyond the years 0 to 9999, as its Unix time.
    static func time(_ time: UnixTime) -> String {
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        guard (-62_167_219_200...253_402_300_799).contains(time.seconds) else { return "Unix time \(time.seconds)" }
        let days = Int(time.seconds - time.secondOfDay) / 86_400
        let (year, month, day) = date(daysSince1970: days)
        let second = Int(time.secondOfDay)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }

    /// A day of the proleptic Gregorian calendar, by Howard Hinnant's `civil_from_days`, where a year begins in March.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // From 0000-03-01 on; before that, two months are left, whose era is the one before.
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}

extension UnixTime {
    /// Seconds since midnight, UTC.
    fileprivate var secondOfDay: Int64 {
        let rest = seconds % 86_400
        return rest < 0 ? rest + 86_400 : rest
    }
}
