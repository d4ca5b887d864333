/// An accepted text is read back unchanged when written in flow style and in block style. An error's line is a line of
/// the text.
func fuzz(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    do throws(YAMLError) {
        guard let node = try YAMLReader.read(text) else { return }
        require(depth(node) <= YAMLReader.maximumDepth, "\(shown(input)) is not too deep")
        // Keys have a length limit, and may be longer in the form written here.
        guard longestKey(node) <= YAMLReader.maximumKeyLength else { return }
        let written = flow(node)
        check(written, says: written)
        check("---" + block(node, indentation: ""), says: written)
    } catch {
        let lines = input.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        require((1...lines).contains(error.line), "line \(error.line) is one of \(shown(input))")
    }
}

private func check(_ text: String, says expected: String) {
    do throws(YAMLError) {
        require(try YAMLReader.read(text).map(flow) == expected, "\(text.debugDescription) is \(expected)")
    } catch {
        require(false, "\(text.debugDescription) was written, and is read: \(error)")
    }
}

/// A value on one line.
private func flow(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(let scalar): node.isNull ? "~" : quoted(scalar.string)
    case .sequence(let elements): "[\(elements.map(flow).joined(separator: ","))]"
    case .mapping(let members):
        "{\(members.map { "\(quoted($0.name)):\(flow($0.value))" }.joined(separator: ","))}"
    }
}

/// A value after a colon or hyphen, up to the end of its last line.
private func block(_ node: YAMLNode, indentation: String) -> String {
    switch node.content {
    case .sequence(let elements) where !elements.isEmpty:
        "\n" + elements.map { "\(indentation)-\(block($0, indentation: indentation + " "))" }.joined()
    case .mapping(let members) where !members.isEmpty:
        "\n"
            + members.map { "\(indentation)\(quoted($0.name)):\(block($0.value, indentation: indentation + " "))" }
            .joined()
    default: " \(flow(node))\n"
    }
}

/// A text in double quotes.
private func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x22: output += "\\\""
        case 0x5c: output += "\\\\"
        case 0x20...0x7e, 0xa0...0x2027, 0x202a..<0xfeff, 0xff00...0xfffd, 0x1_0000...:
            output.unicodeScalars.append(scalar)
        default:
            let digits = String(scalar.value, radix: 16)
            output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
    return output + "\""
}

private func depth(_ node: YAMLNode) -> Int {
    switch node.content {
    case .scalar: 0
    case .sequence(let elements): 1 + (elements.map(depth).max() ?? 0)
    case .mapping(let members): 1 + (members.map { depth($0.value) }.max() ?? 0)
    }
}

/// The length of the longest key in bytes, in the form written here.
private func longestKey(_ node: YAMLNode) -> Int {
    switch node.content {
    case .scalar: 0
    case .sequence(let elements): elements.map(longestKey).max() ?? 0
    case .mapping(let members): members.map { max(quoted($0.name).utf8.count, longestKey($0.value)) }.max() ?? 0
    }
}
