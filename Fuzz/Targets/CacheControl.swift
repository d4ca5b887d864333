import HTTP

/// However a response's header fields are written, its lifetime is `nil` or not negative, and the fields are respected.
///
/// The input's first four lines are `Cache-Control`, `Age`, `Expires` and `Date`; an empty line means an absent field.
func fuzz(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 4, omittingEmptySubsequences: false)
    let fields = (0..<4).map { index -> String? in
        index < lines.count && !lines[index].isEmpty ? String(decoding: lines[index], as: UTF8.self) : nil
    }
    check(cacheControl: fields[0], age: fields[1], expires: fields[2], date: fields[3])
    for line in lines { check(date: String(decoding: line, as: UTF8.self)) }
    check(time: input.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
}

private let mostDeltaSeconds: Int64 = 1 << 31

private func check(cacheControl: String?, age: String?, expires: String?, date: String?) {
    func seconds(_ cacheControl: String?, _ age: String? = age, _ expires: String? = expires) -> Int64? {
        let lifetime = Freshness.lifetime(cacheControl: cacheControl, age: age, expires: expires, date: date)
        require(lifetime.map { $0.milliseconds % 1000 } ?? 0 == 0, "a lifetime is in whole seconds")
        return lifetime.map { $0.milliseconds / 1000 }
    }
    let lifetime = seconds(cacheControl)
    require(lifetime ?? 0 >= 0, "a lifetime is not negative")
    require(seconds(cacheControl, age, nil) ?? 0 <= mostDeltaSeconds, "a lifetime that Cache-Control gives is bounded")
    require(lifetime != nil || expires == nil, "where there is Expires there is a lifetime")
    require(lifetime ?? 0 <= seconds(cacheControl, nil) ?? 0, "an age does not make it longer")
    // Swift merges a comma with a following combining character into one Character. Such fields may be ignored.
    guard let cacheControl, cacheControl.utf8.allSatisfy({ (0x20..<0x7f).contains($0) || $0 == 0x09 }) else { return }
    require(seconds(cacheControl + ", no-store") == 0, "no-store counts wherever it is written")
    require(seconds(cacheControl.uppercased()) == lifetime, "upper case says the same")
    require(seconds(" \t" + cacheControl + ",, ,") == lifetime, "white space and empty elements say nothing")
    let isForbidden = seconds(cacheControl, nil, nil) == 0 && seconds("max-age=7," + cacheControl, nil) == 0
    require(isForbidden || seconds("max-age=7, " + cacheControl, nil) == 7, "of several ages the first counts")
}

/// A parsed date is formatted the same way, except for a leap second, which counts as the next second.
private func check(date text: String) {
    guard let seconds = HTTPDate.seconds(from: text) else { return }
    let isLeapSecond = text.utf8.dropFirst(22).starts(with: ":60".utf8)
    let isSame = HTTPDate.text(unixSeconds: seconds) == text
    let isSameBefore = HTTPDate.text(unixSeconds: seconds - 1) == text.replacing(":60 GMT", with: ":59 GMT")
    require(isLeapSecond ? isSameBefore : isSame, "\(text) is written as it was read")
}

/// Any time of the years 1 to 9999 survives formatting and parsing.
private func check(time number: UInt64) {
    let first: Int64 = -62_135_596_800
    let seconds = first + Int64(number % UInt64(253_402_300_800 - first))
    let text = HTTPDate.text(unixSeconds: seconds)
    require(HTTPDate.seconds(from: text) == seconds, "\(text) is read as it was written")
}
