internal import IDToken
internal import OAuth
internal import OpenSSL
internal import Verification

struct FieldWriter {
    private var octets: [UInt8] = []

    /// Reserves as much as a handle can hold, because a reallocation would leave a copy of a key in memory.
    init() { octets.reserveCapacity(SealedSignIn.maximumLength) }

    /// What was written, which is the caller's alone.
    consuming func take() -> [UInt8] { octets }

    mutating func write(number: Int64) {
        withBigEndian(UInt64(bitPattern: number), 8)
    }

    /// - Parameter octets: `nil` and an empty field are encoded differently.
    mutating func write(octets field: [UInt8]?) {
        withBigEndian(UInt64((field?.count ?? -1) + 1), 2)
        octets += field ?? []
    }

    mutating func write(text: String?) { write(octets: text.map { Array($0.utf8) }) }

    mutating func write(_ key: ProofKey) {
        withBigEndian(UInt64(key.octets.count + 1), 2)
        key.octets.withBytes { for index in $0.indices { octets.append($0[index]) } }
    }

    mutating func write(texts: [String]) {
        write(number: Int64(texts.count))
        for text in texts { write(text: text) }
    }

    /// Its audience is that of the sign-in.
    mutating func write(_ connection: Connection) {
        write(text: connection.id)
        write(text: connection.issuer)
        write(number: Int64(connection.claimRules.count))
        for rule in connection.claimRules {
            write(text: rule.claim.name.string)
            write(texts: rule.values)
        }
        write(texts: connection.emailDomains)
    }

    mutating func write(_ requested: RequestedChecks) {
        let flags = [requested.requiresAuthenticationTime, requested.responseIsSigned, requested.hasFrontToken]
        write(number: flags.reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
        write(texts: requested.contextClasses)
        write(texts: requested.resources)
    }

    private mutating func withBigEndian(_ value: UInt64, _ count: Int) {
        for index in (0..<count).reversed() { octets.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}

/// The octets do not come from the encoder.
struct NotEncoded: Error {}

/// Reads what ``FieldWriter`` wrote, in the same order.
struct FieldReader {
    private var position = 0
    private let end: Int

    init(_ count: Int) { end = count }

    var isAtEnd: Bool { position == end }

    mutating func number(_ octets: Span<UInt8>) throws(NotEncoded) -> Int64 {
        Int64(bitPattern: try bigEndian(octets, 8))
    }

    /// - Returns: `nil` if the field was written as `nil`.
    mutating func field(_ octets: Span<UInt8>) throws(NotEncoded) -> [UInt8]? {
        let length = try bigEndian(octets, 2)
        guard length > 0 else { return nil }
        let count = Int(length) - 1
        guard count <= end - position else { throw NotEncoded() }
        defer { position += count }
        return (position..<position + count).map { octets[$0] }
    }

    /// - Returns: `nil` if the field was written as `nil`.
    mutating func optional<Value>(
        _ octets: Span<UInt8>, _ make: ([UInt8]) -> Value?
    ) throws(NotEncoded) -> Value? {
        guard let field = try field(octets) else { return nil }
        guard let value = make(field) else { throw NotEncoded() }
        return value
    }

    /// - Returns: `nil` if the field was written as `nil`.
    mutating func text(_ octets: Span<UInt8>) throws(NotEncoded) -> String? {
        guard let field = try field(octets) else { return nil }
        guard let text = String(validating: field, as: UTF8.self) else { throw NotEncoded() }
        return text
    }

    mutating func requiredKey(_ octets: Span<UInt8>) throws(NotEncoded) -> ProofKey {
        guard var field = try field(octets) else { throw NotEncoded() }
        defer { wipe(&field) }
        guard let secret = try? SecretBytes(field.span), let key = ProofKey(secret) else { throw NotEncoded() }
        return key
    }

    mutating func requiredText(_ octets: Span<UInt8>) throws(NotEncoded) -> String {
        guard let text = try text(octets) else { throw NotEncoded() }
        return text
    }

    mutating func texts(_ octets: Span<UInt8>) throws(NotEncoded) -> [String] {
        var texts: [String] = []
        for _ in 0..<(try count(octets)) { texts.append(try requiredText(octets)) }
        return texts
    }

    mutating func connection(_ octets: Span<UInt8>, audience: String) throws(NotEncoded) -> Connection {
        let (id, issuer) = (try requiredText(octets), try requiredText(octets))
        var rules: [ClaimRule] = []
        for _ in 0..<(try count(octets)) {
            let claim = ClaimPath(try requiredText(octets))
            rules.append(ClaimRule(claim, .oneOf, try texts(octets)))
        }
        return Connection(
            id: id, issuer: issuer, audience: audience, claimRules: rules, emailDomains: try texts(octets))
    }

    mutating func requestedChecks(_ octets: Span<UInt8>) throws(NotEncoded) -> RequestedChecks {
        let flags = try number(octets)
        guard (0..<8).contains(flags) else { throw NotEncoded() }
        return RequestedChecks(
            contextClasses: try texts(octets), requiresAuthenticationTime: flags & 1 != 0,
            resources: try texts(octets), responseIsSigned: flags & 2 != 0, hasFrontToken: flags & 4 != 0)
    }

    /// The number of fields that follow, each of which has two octets at least.
    private mutating func count(_ octets: Span<UInt8>) throws(NotEncoded) -> Int {
        let count = try number(octets)
        guard (0...Int64(end - position)).contains(count) else { throw NotEncoded() }
        return Int(count)
    }

    private mutating func bigEndian(_ octets: Span<UInt8>, _ count: Int) throws(NotEncoded) -> UInt64 {
        guard count <= end - position else { throw NotEncoded() }
        defer { position += count }
        return (position..<position + count).reduce(0) { $0 << 8 | UInt64(octets[$1]) }
    }
}
