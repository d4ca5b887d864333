internal import JOSE

/// Decodes claims from the verified text in place, with the strictness of the verifier's own reader: no value is
/// converted to another type, and no number is rounded to fit.
struct ClaimsDecoder: Decoder {
    /// The Claims Set itself, or a value in it.
    enum Source {
        case object(JSONObject)
        case value(JSONValue)

        var object: JSONObject? { if case .object(let object) = self { object } else { value?.object } }
        var value: JSONValue? { if case .value(let value) = self { value } else { nil } }
    }

    let source: Source
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let object = source.object else { throw mismatch([String: Any].self, "an object") }
        return KeyedDecodingContainer(KeyedClaims<Key>(object: object, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = source.value?.elements else { throw mismatch([Any].self, "an array") }
        return ClaimElements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let found =
            switch source.value?.kind ?? .object {
            case .null: "null"
            case .true, .false: "a boolean"
            case .integer, .real: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return .typeMismatch(
            type, .init(codingPath: codingPath, debugDescription: "This claim is \(found); expected \(expected)."))
    }
}

extension ClaimsDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { source.value?.kind == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let bool = source.value?.bool else { throw mismatch(type, "true or false") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard let string = source.value?.string else { throw mismatch(type, "a string") }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let double = source.value?.double else { throw mismatch(type, "a number") }
        guard double.isFinite else { throw outOfRange() }
        return double
    }

    func decode(_ type: Float.Type) throws -> Float {
        let float = Float(try decode(Double.self))
        guard float.isFinite else { throw outOfRange() }
        return float
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Foundation's `Date` would read the number as seconds since 2001.
        guard !["Foundation.Date", "FoundationEssentials.Date"].contains(String(reflecting: type)) else {
            throw DecodingError.typeMismatch(
                type,
                .init(
                    codingPath: codingPath,
                    debugDescription: "A Date would be 31 years late; decode the time of a claim as UnixTime."))
        }
        return try Value(from: self)
    }

    /// An integer without a fraction or an exponent.
    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard let value = source.value, value.kind == .integer else { throw mismatch(Integer.self, "an integer") }
        guard let integer = value.integer.flatMap(Integer.init(exactly:)) else { throw outOfRange() }
        return integer
    }

    private func outOfRange() -> DecodingError {
        .dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "The number is out of the range of the expected type."))
    }
}

/// The members of an object.
private struct KeyedClaims<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]

    var allKeys: [Key] {
        var keys: [Key] = []
        object.forEachMember { name, _ in if let key = Key(stringValue: name) { keys.append(key) } }
        return keys
    }

    func contains(_ key: Key) -> Bool { object.kind(of: JSONName(key.stringValue)) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { ClaimsDecoder(source: .object(object), codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> ClaimsDecoder {
        guard let value = object[JSONName(key.stringValue)] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "The token has no claim of this name."))
        }
        return ClaimsDecoder(source: .value(value), codingPath: codingPath + [key])
    }
}

/// The elements of an array.
private struct ClaimElements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try decoderOfNext(Never.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try takeNext(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try takeNext([String: Any].self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try takeNext([Any].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try takeNext((any Decoder).self) { $0 } }

    /// Reads the next element, and moves on if it can be read.
    private mutating func takeNext<Value>(
        _ type: Any.Type, _ read: (ClaimsDecoder) throws -> Value
    ) throws -> Value {
        let value = try read(decoderOfNext(type))
        currentIndex += 1
        return value
    }

    private func decoderOfNext(_ type: Any.Type) throws -> ClaimsDecoder {
        let path = codingPath + [ClaimKey(index: currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: path, debugDescription: "The array has no further element."))
        }
        return ClaimsDecoder(source: .value(elements[currentIndex]), codingPath: path)
    }
}

/// The name of a claim, or the index of an element.
struct ClaimKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
