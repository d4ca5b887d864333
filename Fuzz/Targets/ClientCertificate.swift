import IDToken
import JOSE

/// Input is what a gateway might pass on as a client's certificate: as it is, and as the DER in each form. A
/// certificate has one thumbprint, whatever its form.
func fuzz(_ input: [UInt8]) {
    _ = CertificateThumbprint(String(decoding: input, as: UTF8.self))
    var der: [UInt8] = []
    Base64URL.appendStandard(input.span, to: &der)
    let text = String(decoding: der, as: UTF8.self)
    // Text of this length is a thumbprint.
    guard text.utf8.count != 43, let read = CertificateThumbprint(text) else { return }
    let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    require(CertificateThumbprint(pem) == read, "PEM has the thumbprint of its DER")
    let encoded = pem.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    require(CertificateThumbprint(encoded) == read, "percent-encoded PEM has the thumbprint of its DER")
}
