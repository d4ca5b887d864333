import JOSE

/// The two readers, which must agree.
enum Reader: String, CaseIterable, Sendable {
    /// `JSONObject`, in place.
    case inPlace
    /// `JSONTree`, by jansson.
    case tree

    /// Why a text is rejected; `nil` if it is read.
    func error(_ text: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            switch self {
            case .inPlace: _ = try JSONObject(text)
            case .tree: _ = try JSONTree(readingObject: text)
            }
            return nil
        } catch {
            return error
        }
    }

    func accepts(_ text: [UInt8]) -> Bool { error(text) == nil }
    func accepts(_ text: String) -> Bool { accepts(Array(text.utf8)) }
}

extension JSONValue {
    /// Whether it equals a tree: same types, bit-identical numbers, byte-identical strings, same members.
    func equals(_ tree: JSONTree) -> Bool {
        switch tree {
        case .null: kind == .null
        case .bool(let expected): kind == (expected ? .true : .false) && bool == expected
        case .integer(let expected): kind == .integer && integer == expected
        case .real(let expected): kind == .real && double?.bitPattern == expected.bitPattern
        case .string(let expected): kind == .string && utf8?.elementsEqual(expected.utf8) == true
        case .array(let expected):
            elements.map { $0.count == expected.count && zip($0, expected).allSatisfy { $0.equals($1) } } == true
        case .object(let expected): object?.equals(expected) == true
        }
    }
}

extension JSONObject {
    func equals(_ members: [String: JSONTree]) -> Bool {
        count == members.count
            && members.allSatisfy { name, value in self[JSONName(name)]?.equals(value) == true }
            && hasOnly(members.keys.map { JSONName($0) })
    }
}
