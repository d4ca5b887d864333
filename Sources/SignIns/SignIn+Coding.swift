private import Grants
private import IDToken

/// Encodes a sign-in for its handle. A number is eight octets, big-endian. A text has a prefix of two octets with its
/// length plus one, or 0 for `nil`. The maximum age is encoded as text.
///
/// A custom format, because handles are limited to 2 KiB and nothing else reads them. A change of the format needs a
/// new ``HandleVersion``.
extension SignIn {
    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(text: provider)
        writer.write(text: audience)
        writer.write(octets: nonce?.octets)
        writer.write(number: begunAt.seconds)
        writer.write(number: expiresAt.seconds)
        writer.write(text: maximumAuthenticationAgeSeconds.map(String.init))
        writer.write(text: subject)
        writer.write(text: issuer)
        writer.write(text: context)
        if case .browser(let browser) = kind {
            writer.write(octets: browser.state.octets)
            writer.write(octets: browser.verifier?.octets)
            writer.write(text: browser.redirectURI)
            writer.write(text: browser.issuer)
            writer.write(number: browser.requiresResponseIssuer ? 1 : 0)
        }
        return writer.octets
    }

    /// - Returns: `nil` if the octets are not the result of ``encoded`` for this version.
    init?(encoded octets: Span<UInt8>, _ version: HandleVersion) {
        var reader = FieldReader(octets.count)
        do throws(NotEncoded) {
            let provider = try reader.requiredText(octets)
            let audience = try reader.requiredText(octets)
            let nonce = try reader.optional(octets, Nonce.init)
            let (begunAt, expiresAt) = (try reader.number(octets), try reader.number(octets))
            let maximumAge = try reader.text(octets)
            let (subject, issuer, context) = (
                try reader.text(octets), try reader.text(octets), try reader.text(octets)
            )
            let kind: Kind
            switch version {
            case .native:
                guard let nonce else { return nil }
                kind = .native(nonce)
            case .browser: kind = .browser(try BrowserSignIn(nonce: nonce, &reader, octets))
            }
            guard reader.isAtEnd else { return nil }
            self.init(
                provider: provider, audience: audience, begunAt: UnixTime(seconds: begunAt),
                expiresAt: UnixTime(seconds: expiresAt),
                maximumAuthenticationAgeSeconds: maximumAge.flatMap(Int64.init),
                subject: subject, issuer: issuer, context: context, kind: kind)
            // The encoder writes only a number or `nil` here.
            guard (maximumAge == nil) == (maximumAuthenticationAgeSeconds == nil) else { return nil }
        } catch {
            return nil
        }
    }
}

extension BrowserSignIn {
    fileprivate init(nonce: Nonce?, _ reader: inout FieldReader, _ octets: Span<UInt8>) throws(NotEncoded) {
        guard let state = try reader.optional(octets, State.init) else { throw NotEncoded() }
        let verifier = try reader.optional(octets, CodeVerifier.init)
        let redirectURI = try reader.requiredText(octets)
        let issuer = try reader.requiredText(octets)
        let flags = try reader.number(octets)
        guard flags == 0 || flags == 1 else { throw NotEncoded() }
        self.init(
            state: state, nonce: nonce, verifier: verifier, redirectURI: redirectURI, issuer: issuer,
            requiresResponseIssuer: flags == 1
        )
    }
}

/// The first octet of a handle: the version of its format, and of its contents.
enum HandleVersion: UInt8 {
    // Kept so that older instances can open handles of native sign-ins while newer instances are rolled out.
    case native = 1
    case browser = 2
}

extension SignIn {
    var version: HandleVersion {
        switch kind {
        case .native: .native
        case .browser: .browser
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
