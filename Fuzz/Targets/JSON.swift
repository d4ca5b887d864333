import JOSE

/// The in-place reader agrees with jansson on every text and its values. Written JSON is read back unchanged.
func fuzz(_ input: [UInt8]) {
    let object = try? JSONObject(input)
    let members = JSONTree.reading(input)
    require((object == nil) == (members == nil), "both readers accept \(shown(input)), or neither does")
    if let object, let members {
        require(object.agrees(with: members), "both readers read the same from \(shown(input))")
        checkWriting(members)
    }
    checkAllowingNUL(input, strict: object)
    let fault = JSONErrorLocation(in: input[...])
    require((fault == nil) == (object != nil), "\(shown(input)) has a fault where it is refused, and only there")
    require((0...input.count).contains(fault?.offset ?? 0), "the fault of \(shown(input)) lies within it")
}

/// Writing and reading again yields the same value.
private func checkWriting(_ members: [String: JSONTree]) {
    let text = written(members)
    guard let again = JSONTree.reading(text), let object = try? JSONObject(text) else {
        require(false, "\(shown(text)) was written, and is read again")
        return
    }
    require(written(again) == text, "\(shown(text)) was written, and is written the same again")
    require(object.agrees(with: members), "\(shown(text)) says what was written")
}

private func written(_ members: [String: JSONTree]) -> [UInt8] {
    var writer = JSONWriter()
    writer.value(.object(members))
    return writer.bytes
}

/// If strings may contain U+0000, names still must not, and nothing else is accepted in addition.
private func checkAllowingNUL(_ input: [UInt8], strict: JSONObject?) {
    let lenient = try? JSONObject(input, allowsNUL: true)
    if let strict {
        require(lenient?.count == strict.count, "\(shown(input)) is read where U+0000 is allowed too")
    } else if lenient != nil {
        // With other characters in place of U+0000, the text is valid, and none of them occurs in a name.
        let others = [UInt8(ascii: "1"), UInt8(ascii: "2")].map { JSONTree.reading(replacingNUL(input, with: $0)) }
        guard let one = others[0], let other = others[1] else {
            return require(false, "\(shown(input)) is refused for nothing but U+0000")
        }
        require(written(one) != written(other), "\(shown(input)) is refused for its U+0000 alone")
        require(names(in: .object(one)) == names(in: .object(other)), "\(shown(input)) has no U+0000 in a name")
    }
}

/// The text with each escape of U+0000 replaced by another control character.
private func replacingNUL(_ text: [UInt8], with lastDigit: UInt8) -> [UInt8] {
    var output = text
    var index = 0
    while index < text.count {
        guard text[index] == UInt8(ascii: "\\") else {
            index += 1
            continue
        }
        if text[index...].starts(with: #"\u0000"#.utf8) { output[index + 5] = lastDigit }
        index += 2
    }
    return output
}

/// The names of all members, at any depth.
private func names(in value: JSONTree) -> Set<String> {
    switch value {
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(names(in: $1)) }
    case .object(let members): members.values.reduce(into: Set(members.keys)) { $0.formUnion(names(in: $1)) }
    default: []
    }
}
