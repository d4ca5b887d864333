import IDToken
import JOSE

/// Input is the value of a gateway's header field for the client's certificate: as it is, in each form; and as the DER, and
/// as a part of the field beside a good one. A certificate has one thumbprint, whatever its form, and a field with a second
/// one has none.
func fuzz(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    for form in CertificateForm.allCases { _ = CertificateThumbprint(text, in: form) }

    let hash = String(repeating: "0a", count: 32)
    guard let alone = CertificateThumbprint("Hash=\(hash)", in: .xfcc) else { return require(false, "a hash is read") }
    for field in ["Hash=\(hash);\(text)", "\(text);Hash=\(hash)", "Hash=\(hash),\(text)", "\(text),Hash=\(hash)"] {
        guard let read = CertificateThumbprint(field, in: .xfcc) else { continue }
        require(read == alone, "\(field) has one certificate")
    }
    if CertificateThumbprint(text, in: .xfcc) != nil {
        require(CertificateThumbprint("\(text),\(text)", in: .xfcc) == nil, "two elements are none")
    }

    var octets: [UInt8] = []
    Base64URL.appendStandard(input.span, to: &octets)
    let base64 = String(decoding: octets, as: UTF8.self)
    guard let read = CertificateThumbprint(":\(base64):", in: .rfc9440) else { return }
    require(CertificateThumbprint(":\(base64):, :\(base64):", in: .rfc9440) == nil, "two items are none")
    let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    let escaped = pem.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    require(CertificateThumbprint(escaped, in: .pem) == read, "PEM has the thumbprint of its DER")
    require(CertificateThumbprint("Cert=\"\(escaped)\"", in: .xfcc) == read, "XFCC has the thumbprint of its DER")
}
