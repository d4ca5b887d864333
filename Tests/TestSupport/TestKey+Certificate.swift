internal import OpenSSL

extension TestKey {
    /// A certificate in PEM for the public key. Its signature is not valid, because it is never checked.
    package func certificate() -> String {
        let algorithm = DER.sequence(DER.oid([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b]), DER.null)
        let noName = DER.sequence()
        let validity = DER.sequence(DER.time("200101000000Z"), DER.time("200102000000Z"))
        let content = DER.sequence(DER.integer([1]), algorithm, noName, validity, noName, publicKeyInfo())
        let der = DER.sequence(content, algorithm, DER.bits([0]))
        return Self.pem(der)
    }

    /// The public key in PEM, as a `SubjectPublicKeyInfo`.
    package func publicKeyPEM() -> String { Self.pem(publicKeyInfo(), label: "PUBLIC KEY") }

    /// PEM with 64 characters per line.
    package static func pem(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        var text = base64URL(der).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while text.count % 4 != 0 { text.append("=") }
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// A `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7).
    private func publicKeyInfo() -> [UInt8] {
        let components = try! signing.publicComponents().map(\.octets)
        switch signing.kind {
        case .rsa:
            let algorithm = DER.sequence(DER.oid([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]), DER.null)
            return DER.sequence(
                algorithm, DER.bits(DER.sequence(DER.integer(components[0]), DER.integer(components[1]))))
        case .ellipticCurve(let curve):
            let algorithm = DER.sequence(
                DER.oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]),
                DER.oid(
                    curve == .p256
                        ? [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
                        : [0x2b, 0x81, 0x04, 0x00, curve == .p384 ? 0x22 : 0x23]))
            return DER.sequence(algorithm, DER.bits([4] + components[0] + components[1]))
        case .edwards(let curve):
            return DER.sequence(
                DER.sequence(DER.oid([0x2b, 0x65, curve == .ed25519 ? 0x70 : 0x71])), DER.bits(components[0]))
        }
    }
}

/// The part of X.690 that certificates need.
private enum DER {
    static let null: [UInt8] = [0x05, 0x00]

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }
    static func oid(_ octets: [UInt8]) -> [UInt8] { value(0x06, octets) }
    static func bits(_ octets: [UInt8]) -> [UInt8] { value(0x03, [0] + octets) }
    static func time(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }

    /// A positive integer.
    static func integer(_ octets: [UInt8]) -> [UInt8] { value(0x02, (octets[0] & 0x80 == 0 ? [] : [0]) + octets) }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + content
    }
}
