import OpenSSL

/// A certificate is whatever a server sends: what is none is passed over, and what is one says the same twice.
func fuzz(_ input: [UInt8]) {
    require(look(at: input) == look(at: input), "a certificate says the same twice")
}

private func look(at der: [UInt8]) -> [[UInt8]]? {
    guard let certificate = Certificate(der) else { return nil }
    let key = certificate.publicKey?.components.map(\.octets) ?? []
    return [[certificate.hasWeakSignature ? 1 : 0, certificate.isSelfSigned ? 1 : 0]] + key
}
