import JOSE

extension JSONTree {
    /// The text as jansson reads it, with 0 for each integer beyond 64 bits: the only intended difference between the
    /// readers. `nil` if jansson rejects the text for any other reason.
    static func reading(_ text: [UInt8]) -> [String: JSONTree]? {
        do throws(JSONError) {
            return try JSONTree(readingObject: text).object
        } catch .numberOutOfRange {
            return (try? JSONTree(readingObject: withoutBigIntegers(text)))?.object
        } catch {
            return nil
        }
    }
}

extension JSONObject {
    /// Whether it has the same members and values as a tree.
    func agrees(with members: [String: JSONTree]) -> Bool {
        // A tree's names are Swift strings, so of two canonically equivalent names it holds only one.
        guard count == members.count else { return count > members.count && !members.keys.allSatisfy(isASCII) }
        return members.allSatisfy { name, value in self[JSONName(name)]?.agrees(with: value) == true }
            && hasOnly(members.keys.map { JSONName($0) })
    }

    private func isASCII(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 } }
}

extension JSONValue {
    /// Whether it equals a tree: same type, bit-identical numbers, byte-identical strings.
    func agrees(with tree: JSONTree) -> Bool {
        switch tree {
        case .null: kind == .null && bool == nil && utf8 == nil && double == nil
        case .bool(let expected): kind == (expected ? .true : .false) && bool == expected
        case .integer(let expected): kind == .integer && (integer == expected || expected == 0 && integer == nil)
        case .real(let expected): kind == .real && integer == nil && double?.bitPattern == expected.bitPattern
        case .string(let expected): kind == .string && utf8?.elementsEqual(expected.utf8) == true
        case .array(let expected):
            elements.map { $0.count == expected.count && zip($0, expected).allSatisfy { $0.agrees(with: $1) } } == true
        case .object(let expected): object?.agrees(with: expected) == true
        }
    }
}

/// The text with 0 in place of every integer beyond 64 bits. Strings are left alone.
private func withoutBigIntegers(_ text: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var index = 0
    var isInString = false
    while index < text.count {
        let number = isInString ? text[index..<index] : text[index...].prefix { "+-.0123456789Ee".utf8.contains($0) }
        if number.isEmpty {
            if text[index] == UInt8(ascii: "\"") { isInString.toggle() }
            if isInString, text[index] == UInt8(ascii: "\\"), index + 1 < text.count {
                output.append(text[index])
                index += 1
            }
            output.append(text[index])
            index += 1
            continue
        }
        let isBig = isInteger(number) && Int64(String(decoding: number, as: UTF8.self)) == nil
        output += isBig ? [UInt8(ascii: "0")] : Array(number)
        index += number.count
    }
    return output
}

/// Whether a number is an integer in JSON syntax: an optional `-`, then digits without a leading zero.
private func isInteger(_ number: ArraySlice<UInt8>) -> Bool {
    let digits = number.first == UInt8(ascii: "-") ? number.dropFirst() : number
    return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
}
