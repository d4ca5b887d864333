import IDToken
import JOSE
import OpenSSL
import SignInFixtures
import Testing
import TestSupport

/// Access tokens that are bound to a key of their client.
@Suite struct TokenBindingTests {
    private let plain = SentAccessToken.rfc9068
    private let pem = TestKey.p256.certificate()
    private let otherPEM = TestKey.rsa.certificate()
    private static let key = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    private func thumbprint(_ pem: String) -> String {
        base64URL(Certificate(pem: Array(pem.utf8).span)?.thumbprint ?? [])
    }

    private func bound(_ members: String) -> SentAccessToken { plain.with("cnf", "{\(members)}") }

    private func boundToCertificate() -> SentAccessToken { bound(#""x5t#S256":"\#(thumbprint(pem))""#) }

    private func showing(_ pem: String, _ sent: SentAccessToken) throws -> SentAccessToken {
        let certificate = try #require(CertificateThumbprint(pem))
        return sent.expecting { $0.evidence = BindingEvidence(certificate: certificate) }
    }

    // MARK: Certificates

    @Test func `the certificate that a token is bound to proves its sender`() throws {
        let sent = boundToCertificate()
        let verified = try showing(pem, sent).verify()
        #expect(verified.binding?.method == .certificate)
        #expect(verified.binding?.thumbprint == thumbprint(pem))
        #expect(try showing(otherPEM, sent).rejection == .bindingMismatch)
        #expect(sent.rejection == .bindingRequired)
        #expect(try plain.verify().binding == nil)
        // A gateway that asks every client for a certificate has one for unbound tokens too.
        #expect(try showing(pem, plain).verify().binding == nil)
    }

    @Test func `a thumbprint is compared byte for byte`() throws {
        let right = thumbprint(pem)
        for wrong in [right.lowercased(), right + "=", String(right.dropLast()), ""] {
            #expect(try showing(pem, bound(#""x5t#S256":"\#(wrong)""#)).rejection == .bindingMismatch)
        }
    }

    @Test func `a member of cnf that is no string is invalid`() throws {
        for json in ["5", "null", "[]", "{}"] {
            for name in ["jkt", "x5t#S256"] {
                let sent = bound(#""\#(name)":\#(json)"#)
                #expect(sent.rejection == .invalid("cnf"))
                #expect(sent.change { $0.dialect.acceptsUncheckedBindings = true }.rejection == .invalid("cnf"))
            }
        }
        #expect(bound(#""jwk":5"#).rejection == .bindingRequired)
    }

    @Test func `every key that a token is bound to must be proven`() throws {
        let both = bound(#""jkt":"\#(Self.key)","x5t#S256":"\#(thumbprint(pem))""#)
        #expect(try showing(pem, both).rejection == .bindingRequired)
        #expect(try showing(pem, bound(#""jkt":"\#(Self.key)""#)).rejection == .bindingRequired)
        #expect(try showing(pem, bound("")).rejection == .bindingRequired)
    }

    // MARK: Settings

    @Test func `unchecked bindings lift the absence of evidence only`() throws {
        func lax(_ sent: SentAccessToken) -> SentAccessToken {
            sent.change { $0.dialect.acceptsUncheckedBindings = true }
        }
        let sent = boundToCertificate()
        for sent in [sent, bound(""), bound(#""jkt":"\#(Self.key)""#)] {
            let binding = try lax(sent).verify().binding
            #expect(binding?.method == .unchecked)
            #expect(binding?.thumbprint == nil)
        }
        #expect(try lax(plain).verify().binding == nil)
        #expect(try showing(otherPEM, lax(sent)).rejection == .bindingMismatch)
        #expect(try showing(pem, lax(sent)).verify().binding?.method == .certificate)
    }

    @Test func `a token without the binding that the settings demand is refused`() throws {
        func demanding(_ binding: RequiredBinding, _ sent: SentAccessToken) -> SentAccessToken {
            sent.change { $0.dialect.requiredBinding = binding }
        }
        for binding in RequiredBinding.allCases { #expect(demanding(binding, plain).rejection == .bindingMissing) }
        let sent = try showing(pem, boundToCertificate())
        #expect(demanding(.certificate, sent).rejection == nil)
        #expect(demanding(.any, sent).rejection == nil)
        #expect(demanding(.dpop, sent).rejection == .bindingMissing)
        #expect(demanding(.certificate, bound(#""jkt":"\#(Self.key)""#)).rejection == .bindingRequired)
        #expect(demanding(.any, bound("")).rejection == .bindingRequired)
    }

    // MARK: The forms of a certificate

    @Test func `a certificate is read in each of its forms`() throws {
        let der = pem.split(separator: "\n").dropFirst().dropLast().joined()
        let encoded = pem.map { "\n+/= ".contains($0) ? percent($0) : String($0) }.joined()
        let encodedWhole = pem.map(percent).joined()
        let expected = try #require(CertificateThumbprint(thumbprint(pem)))
        let inOneLine = pem.replacing("\n", with: " ")
        for form in [pem, "\(pem)\n", encoded, encodedWhole, der, inOneLine, pem.replacing("\n", with: "\r\n\t")] {
            #expect(CertificateThumbprint(form) == expected, "\(form)")
        }
        #expect(CertificateThumbprint(otherPEM) != expected)
    }

    @Test func `anything else is no certificate`() {
        let right = thumbprint(pem)
        let key = TestKey.p256.publicKeyPEM()
        for text in [
            "", "x", pem + otherPEM, key, key + pem, pem.replacing("CERTIFICATE", with: "X509 CRL"), "%", "%2",
            String(right.dropLast()), right + "=", right.dropLast() + "+", right.dropLast() + "9",
            pem.replacing("-----END CERTIFICATE-----\n", with: ""),
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----", " \(pem)",
            pem + "x",
        ] { #expect(CertificateThumbprint(text) == nil, "\(text)") }
    }

    @Test func `one certificate in DER, and nothing else`() throws {
        let der = try #require(Base64URL.decodeLeniently(der))
        func isRead(_ octets: [UInt8]) -> Bool {
            var text: [UInt8] = []
            Base64URL.appendStandard(octets.span, to: &text)
            return CertificateThumbprint(String(decoding: text, as: UTF8.self)) != nil
        }
        #expect(isRead(der))
        // A SEQUENCE with a long length.
        try #require(der[0] == 0x30 && der[1] > 0x80)
        let length = der[2..<(2 + Int(der[1] & 0x7f))]
        let content = Array(der[length.endIndex...])
        #expect(!isRead(der + [0]) && !isRead(der + der) && !isRead(Array(der.dropLast())) && !isRead([]))
        #expect(!isRead([0x31] + der.dropFirst()) && !isRead([0x30, 0x80] + content + [0, 0]))
        #expect(isRead([0x30, der[1]] + length + content))
        #expect(!isRead([0x30, der[1] + 1, 0] + length + content))
        #expect(!isRead([0x30]) && !isRead([0x30, 0]) && !isRead([0x30, 0x82]) && !isRead([0x30, 0x84, 0xff]))
        // A public key is a sequence too, of other parts.
        let key = TestKey.p256.publicKeyPEM().split(separator: "\n").dropFirst().dropLast().joined()
        #expect(CertificateThumbprint(key) == nil)
    }

    // MARK: The header fields of gateways

    private var der: String { pem.split(separator: "\n").dropFirst().dropLast().joined() }
    private var escaped: String { pem.map(percent).joined() }
    private var hash: String {
        (Certificate(pem: Array(pem.utf8).span)?.thumbprint ?? []).map { octet in
            let digits = String(octet, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    @Test func `a gateway's field has the certificate in its form`() throws {
        let expected = try #require(CertificateThumbprint(pem))
        let values: [(CertificateForm, [String])] = [
            (.pem, [pem, escaped]), (.rfc9440, [":\(der):"]),
            (
                .xfcc,
                [
                    "Hash=\(hash)", "hash=\(hash.uppercased())", "Hash=\"\(hash)\"", "Cert=\"\(escaped)\"",
                    "CERT=\(escaped)",
                    "Hash=\(hash);Cert=\"\(escaped)\"", "By=spiffe://a;Hash=\(hash);URI=",
                    #"Subject="CN=\"a;Hash=b\",O=\\";Hash="# + hash,
                ]
            ),
        ]
        for (form, values) in values {
            for value in values { #expect(CertificateThumbprint(value, in: form) == expected, "\(value)") }
        }
    }

    @Test func `a field in another form, or with more than one certificate, has none`() {
        let other = (Certificate(pem: Array(otherPEM.utf8).span)?.thumbprint ?? []).map { String($0, radix: 16) }
            .joined()
        let values: [(CertificateForm, [String])] = [
            (.pem, ["", der, hash, thumbprint(pem), ":\(der):", pem + pem, escaped + "," + escaped]),
            (
                .rfc9440,
                [
                    "", ":", "::", ":a:", der, ":\(der)", "\(der):", ":\(der):;a=1", ":\(der):, :\(der):", " :\(der):",
                    ":\(thumbprint(pem)):", ":\(pem):", ":\(escaped):",
                ]
            ),
            (
                .xfcc,
                [
                    "", "=", "Hash", "Hash=", "Hash=\(hash.dropLast(2))", "Hash=\(hash)00", "Hash=zz", "By=a", "Cert=x",
                    "Hash=\(hash);Hash=\(hash)", "Hash=\(hash),Hash=\(hash)", "Hash=\(hash),By=a", "By=a,Hash=\(hash)",
                    ",Hash=\(hash)", "Hash=\(hash),", "Hash=\(hash);", ";Hash=\(hash)", "Hash=\"\(hash)",
                    "Hash=\"\(hash)\"x",
                    "Hash=\(other);x;Hash=\(hash)", "Hash=\(other);x,Hash=\(hash)", "x;Hash=\(hash)", "x,Hash=\(hash)",
                    "Hash=\(other);Cert=\"\(escaped)\"", "Hash=\(hash);Cert=x", "Hash=zz;Cert=\"\(escaped)\"",
                    "Cert=\"\(escaped)\";Cert=\"\(escaped)\"", #"Hash=""# + hash + #"\"#, "Hash =\(hash)",
                ]
            ),
        ]
        for (form, values) in values {
            for value in values { #expect(CertificateThumbprint(value, in: form) == nil, "\(form) \(value)") }
        }
    }

    private func percent(_ character: Character) -> String {
        character.utf8.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" + digits : digits)
        }.joined()
    }
}
