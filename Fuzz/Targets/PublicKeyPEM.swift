import JOSE

/// Input is what a server might send as a public key: a whole document, or the DER in one. What is read is the same key
/// twice.
func fuzz(_ input: [UInt8]) {
    check(input)
    var text = Array("-----BEGIN PUBLIC KEY-----\n".utf8)
    Base64URL.appendStandard(input.span, to: &text)
    check(text + Array("\n-----END PUBLIC KEY-----\n".utf8))
}

private func check(_ document: [UInt8]) {
    let key = JWK(keyID: "a", publicKey: document)
    require(key?.thumbprint == JWK(keyID: "a", publicKey: document)?.thumbprint, "a document has the same key twice")
}
