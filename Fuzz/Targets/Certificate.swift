import OpenSSL

/// Input is what a server might send as its certificate. Invalid certificates are ignored; valid ones yield the same
/// values twice.
func fuzz(_ input: [UInt8]) {
    require(look(at: input) == look(at: input), "a certificate says the same twice")
}

private func look(at der: [UInt8]) -> [[UInt8]]? {
    guard let certificate = Certificate(der) else { return nil }
    let key = certificate.publicKey?.components.map(\.octets) ?? []
    return [[certificate.hasWeakSignature ? 1 : 0, certificate.isSelfSigned ? 1 : 0]] + key
}
