private import Bytes

/// IMF-fixdate, HTTP's preferred date format: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Unix seconds; `nil` for anything else, including the obsolete formats and dates that don't exist.
    package static func seconds(from text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            bytes[range].reduce(0 as Int64?) { sum, byte in
                guard let sum, byte.isDigit else { return nil }
                return sum * 10 + Int64(byte - 0x30)
            }
        }
        guard let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19),
            let minute = number(20..<22),
            let second = number(23..<25),
            let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self))
        else { return nil }
        // A leap second counts as the second after it.
        let date = CivilDate(year: year, month: Int64(month) + 1, day: day).days
        let seconds = date * 86400 + hour * 3600 + minute * 60 + second
        let isWritten = self.text(unixSeconds: second == 60 ? seconds - 1 : seconds)
        let expected = second == 60 ? text.replacing(":60 ", with: ":59 ") : text
        return isWritten == expected ? seconds : nil
    }

    package static func text(unixSeconds: Int64) -> String {
        let (date, time) = CivilDate.split(unixSeconds: unixSeconds)
        let weekday = weekdays[Int((date.days % 7 + 7) % 7)]
        let month = months[Int(date.month) - 1]
        return "\(weekday), \(padded(date.day, 2)) \(month) \(padded(date.year, 4)) \(clock(time)) GMT"
    }
}
