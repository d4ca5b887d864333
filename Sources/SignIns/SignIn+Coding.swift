private import IDToken

/// Encodes a sign-in for its handle: integers as eight octets, big-endian; texts with a two-octet length prefix.
///
/// A custom format, because handles are limited to 2 KiB and nothing else reads them. A change of the format needs a
/// new ``SignInSealer/version``.
extension SignIn {
    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(text: provider)
        writer.write(text: audience)
        writer.write(octets: nonce)
        writer.write(number: begunAt.seconds)
        writer.write(number: expiresAt.seconds)
        writer.write(text: maximumAuthenticationAgeSeconds.map(String.init))
        writer.write(text: subject)
        writer.write(text: issuer)
        writer.write(text: context)
        return writer.octets
    }

    /// - Returns: `nil` if the octets are not the result of ``encoded``.
    init?(encoded octets: Span<UInt8>) {
        var reader = FieldReader(octets.count)
        do throws(NotEncoded) {
            let provider = try reader.requiredText(octets)
            let audience = try reader.requiredText(octets)
            let nonce = try reader.field(octets)
            let (begunAt, expiresAt) = (try reader.number(octets), try reader.number(octets))
            let maximumAge = try reader.text(octets)
            let (subject, issuer, context) = (
                try reader.text(octets), try reader.text(octets), try reader.text(octets)
            )
            guard let nonce, nonce.count == Self.nonceLength, reader.isAtEnd else { return nil }
            self.init(
                provider: provider, audience: audience, nonce: nonce, begunAt: UnixTime(seconds: begunAt),
                expiresAt: UnixTime(seconds: expiresAt),
                maximumAuthenticationAgeSeconds: maximumAge.flatMap(Int64.init),
                subject: subject, issuer: issuer, context: context)
            // The encoder writes only a number or `nil` here.
            guard (maximumAge == nil) == (maximumAuthenticationAgeSeconds == nil) else { return nil }
        } catch {
            return nil
        }
    }
}

private struct FieldWriter {
    private(set) var octets: [UInt8] = []

    mutating func write(number: Int64) {
        withBigEndian(UInt64(bitPattern: number), 8)
    }

    /// - Parameter octets: `nil` and an empty field are encoded differently.
    mutating func write(octets field: [UInt8]?) {
        withBigEndian(UInt64((field?.count ?? -1) + 1), 2)
        octets += field ?? []
    }

    mutating func write(text: String?) { write(octets: text.map { Array($0.utf8) }) }

    private mutating func withBigEndian(_ value: UInt64, _ count: Int) {
        for index in (0..<count).reversed() { octets.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}

/// The octets do not come from the encoder.
private struct NotEncoded: Error {}

/// Reads what ``FieldWriter`` wrote, in the same order.
private struct FieldReader {
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
    mutating func text(_ octets: Span<UInt8>) throws(NotEncoded) -> String? {
        guard let field = try field(octets) else { return nil }
        guard let text = String(validating: field, as: UTF8.self) else { throw NotEncoded() }
        return text
    }

    mutating func requiredText(_ octets: Span<UInt8>) throws(NotEncoded) -> String {
        guard let text = try text(octets) else { throw NotEncoded() }
        return text
    }

    private mutating func bigEndian(_ octets: Span<UInt8>, _ count: Int) throws(NotEncoded) -> UInt64 {
        guard count <= end - position else { throw NotEncoded() }
        defer { position += count }
        return (position..<position + count).reduce(0) { $0 << 8 | UInt64(octets[$1]) }
    }
}
