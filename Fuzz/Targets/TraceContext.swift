/// An accepted `traceparent` has the right form and is written back unchanged. An accepted `tracestate` is read back
/// unchanged and is within the limits.
///
/// The input's first line is a `traceparent`; the others are `tracestate` fields.
func fuzz(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if let parent = lines.first { check(parent: Array(parent)) }
    check(state: lines.dropFirst().map { String(decoding: $0, as: UTF8.self) })
    check(cutFrom: input)
}

/// Checks against the format, without the reader under test.
private func check(parent octets: [UInt8]) {
    let text = String(decoding: octets, as: UTF8.self)
    guard let context = SpanContext(traceParent: octets.span) else {
        require(!isGood(octets), "\(text) is of the form and was not read")
        return
    }
    require(isGood(octets), "\(text) is not of the form and was read")
    let written = "00-\(context.traceID.text)-\(context.spanID.text)-\(context.flags.text)"
    require(text.utf8.dropFirst(3).prefix(49).elementsEqual(written.utf8.dropFirst(3).prefix(49)), text)
    require(SpanContext(traceParent: written.utf8.span) == context, "\(text) is read again as \(written)")
    require(context.isRemote && context.state == nil, "\(text) says no more")
}

private func isGood(_ octets: [UInt8]) -> Bool {
    let digits = Array("0123456789abcdef".utf8)
    let parts = octets.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count >= 4, parts.prefix(4).map(\.count) == [2, 32, 16, 2],
        parts.prefix(4).allSatisfy({ $0.allSatisfy(digits.contains) })
    else { return false }
    let isZero = { (part: ArraySlice<UInt8>) in part.allSatisfy { $0 == digits[0] } }
    let isFirstVersion = isZero(parts[0])
    return !parts[0].allSatisfy { $0 == digits[15] } && !isZero(parts[1]) && !isZero(parts[2])
        && (!isFirstVersion || parts.count == 4)
}

private func check(state fields: [String]) {
    guard let state = TraceState.text(fields) else { return }
    require(state.utf8.count <= 512, "\(state) is within its bounds")
    require(state.utf8.allSatisfy { (0x20...0x7e).contains($0) }, "\(state) could be a field")
    let members = state.split(separator: ",", omittingEmptySubsequences: false)
    require((1...32).contains(members.count), "\(state) has members, and not too many")
    let keys = members.map { $0.prefix { $0 != "=" } }
    require(Set(keys).count == keys.count, "\(state) has each key once")
    require(members.allSatisfy { $0.split(separator: "=").count == 2 }, "\(state) has keys and values")
    require(TraceState.text([state]) == state, "\(state) is read again")
    require(TraceState.text(members.map { " \($0)\t, " }) == state, "\(state) is read of several fields")
}

/// Close to valid values, because most changes of octets break an ID.
private func check(cutFrom input: [UInt8]) {
    var draw = Draw(from: input)
    var text = Array("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".utf8)
    for _ in 0..<draw.number(below: 3) {
        let index = draw.number(below: text.count)
        text[index] = draw.element(of: Array("0123456789abcdefABCDEF-gx \u{0}".utf8))
    }
    if draw.number(below: 3) == 0 { text += draw.element(of: ["-", "-01", "0", " "]).utf8 }
    check(parent: text)
}
