import OpenSSL
import Testing
import TestSupport

@Suite struct PrivateKeyTests {
    // Made with `openssl genpkey` for this test, and used nowhere else.
    static let p256 = """
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrmiaBDXR6IUMG7Y84nz+2x1w92pYN3XFsRtK0nGHA8ahRANCAATD\
        /rLJ57e/fxJOGu05R5eQ9dZoyn2uGOXbSeELxhmk8RLYvTzT/RKKr7thHuNBJGLg7NGoT1VPT+h4aEkn+y+d
        """
    static let ed25519 = """
        MC4CAQAwBQYDK2VwBCIEIIC59P5EqHPmt5YElK1IrjMNcMkhN1qJ3Mnh0EjPpJDe
        """
    static let rsa2048 = """
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCkpq7m2TSTEXm0lfv6H02qkfuYfLLhh0phqzR7FaEA+l1+CHAv\
        sIoAv9PFlBKCBZt+i/7ZZlH7Uev2M0VSTjoFFoohuLEw1vMgAOGsU+mGhH7Z3v3TeZx2//YfiSf/BS0wXdXn4GQxWnpUD0JtC8hn\
        Gn+XT1FdQNm+MkuGBRmcNxQ/0sB9JnFu1V+rSXiAYWxXQ++4/PWedAdcfpTncTdqVZwSTeYT73vaL8J93C3Wnivk1cnn3i5D4FCk\
        LTO7fuIQ6QzVJKOjnFta2Itp/LYzhtrT+AtT0fiNvMn5mPY/klJf+Wpcrgaq58xEeiw5xZDOfXRFvPnhO4rZHhtVeCXvAgMBAAEC\
        ggEANKejjmrO/+taRxCiBQLGxTIrSkAyuqIX/PUR8vzfQN9QT9JmAjJMZ+Hw2SI56v/dEtK1fRPWSu+PbOxHkoM21dK3+QHGFK7h\
        EI6HnSM2rtCneohwFxWwnnPL45jqxAkFQw73LdDaadgb/87jeNkITUSxohN5Gz/2gnc2JNVzs7t8GdNSTyxX1BmmvABQzhNTRhq2\
        ltDtlNOPnRYRNhw62AkoVpJWFFNiYcOKcohhPhdIrEvqAs8y+K+GnJ4Qs23tvLYa1JQuG9g/U6JFaC/9s6CI3QR23fPfeSiOYF5l\
        YvAMB2LXh1CroogGW69mTdFEBBnbR/1fk016FB6Y6Q3KWQKBgQDWrQ5KOVNOkPperrPpqatR+fiC6IYbpwjMGPjdnYawVie28Hqt\
        49ALgt7DI7fJ0B7hzv5QP7ssw6cFcy2/0F4kdKgsm7mpAWmWCwvUi1sJ/kykI55szDdXGv8sRccUAVFNvz0+vnxxWakpbAZ79YK/\
        kQ3o2gm+UcTuGgKfTfZ5qQKBgQDEWHfQSWYbyGgocCCz/zUR08hcIPh30zaIQ0zdksI54RRU1ozl6hpccqEUe4VMUTIEOpzcETRM\
        XyvMjfxNvFN1tqOQN2C/O84SRXcEHxn87T/5ElTrBMU2MojBwTjZj4TEUAjfg0tvpSBoAuHgcD0m3CXa87IdPdg6Ec90Sh3R1wKB\
        gQCH5Y9JP1bUQoSsEW4E+gpg35wIyseyk5/HC/vm1sSftjp33W3bzH4z+0mnQGIlGGGkUpO9G0sTAFwn4AzTA0XFUC/x5Ta3nRRJ\
        Dn8TspAUGG5N7dppRzG1K3rjfNyUdm0QiYJsyMsgOkES3raQHBAD0wB6KiTG3R6MF90XGZRw2QKBgD8bUCcZ8D+twgx9PYWc2SnJ\
        r/QshK++qyBQwTvWF6cSuL4r101uWNqt3SgAK2/ECRdi31e8D9scG6+7UwSJKyoCcb/AjM/qIOmuefpRJMEuYAll4vVGqzwoMdxU\
        hjkm771JHBD62hwgLrI/eunwKTd8Oo6NFQpg/kZrwwnVaJAxAoGAPvPdi5XRLqueawX8+9TcxldaNd62tG36iAc8Mw0H+d+p3YFP\
        9qMYgCj1pdR2+pwn6nCkkusruqxfamX8Ue7SDW4kQtbRvGMi0aEGD1AizuMCL1iF5nuB8k3Be/qCIIcNUZ6w4ZLwLSZ+Ra30sM/s\
        vi7ssQMq2Slu52IVZNS055k=
        """
    static let rsa1024 = """
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMGzRXv4dOmIUkDiw++5LeI3pi5VXaNmnCDpTsTHkyHCRrgRYLKE\
        YTlShpfA2koEggcbesRg7qz/W3H7yyaNTUDCWDQPhj+jo6OzCjh/ho1KKg6wCs0YRguRuYqgKD7Gy0ZKFJyivgF+Po2D3hsBk2mB\
        GyfHU1qptx5eoE7O3THLAgMBAAECgYEApN/bfTJ3EXEf0mszLJILJEsKANZY5gUpUDpG+eiGrG2ZlIP2Mv3LY+eC+RkGtYoww6v4\
        S7/WaRrS06rnuOD9p23d2TRuc71mnEzuNLjoRY3hkWjQe+I97JlIap3LCROjl7q+RvOeshOF9clLkeLPM96KWQuRs/plr/X23kAC\
        zAECQQDtvz8dbjyKaEwfqlKZjjdrD4K8PWW/nzzsPc1Au5vrOv2OxZr1lDy1+XS/pPDOBoy84LHiHwnY6v1Su9K1ikjBAkEA0JJQ\
        5sBEZLP5K5NJ6KCPxsRZBTt8CjloXhcXZr20J9T1b/uMz2P4K51+59QnFpQjOqw8cvDW1gopzdpVJsrxiwJBAOqKSexxzN3KCJcQ\
        gw4jg75lfdbQRylkIUj5qxwaOLY16uBHRxjQFZh8MNXDFSBay8qlbDcj4aYSJLjSvAsGEcECQE2W4Lm2tLqxqPPo6wm7EUFkMamc\
        o1w6VvUJqg7ya16V/mgWMB/GlL/E6zza01+25BQjlqk7pvAg/8QwgJTZ0lkCQQCbUagsTvv4O+WxuXH/XDYsEQDzW9ZsN1SoJiiC\
        uEFwWGikG2JXzWiqF+wDM/1mdvRosyeUM9SOWqWdT4kAY9Dp
        """
    static let secp256k1 = """
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQg7d1K7IoT3wmjCR1Po8w1pkfI8bof9isVk22RW9l5VG6hRANCAARbp995\
        H8rGfSVkfY0rTk+CsT1I/2D+zDazGgqMma5wQ1L36nu5Kew/F52JmxTqh3X6N47DKB22VvEShm0DAc0a
        """
    static let x25519 = """
        MC4CAQAwBQYDK2VuBCIEIOgFQyzZtck80GLEn239fiJbYoP9WXQnoMwow3fsUyNu
        """
    /// Of the key `p256`.
    static let certificate = """
        MIIBbjCCAROgAwIBAgIUWjoZrBIPgOCeSS+4fmlUHfCDbr4wCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAeFw0yNjExMjQwMDQz\
        NDlaFw0zNjExMjEwMDQzNDlaMAwxCjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATD/rLJ57e/fxJOGu05R5eQ\
        9dZoyn2uGOXbSeELxhmk8RLYvTzT/RKKr7thHuNBJGLg7NGoT1VPT+h4aEkn+y+do1MwUTAdBgNVHQ4EFgQUK43R6+O5t8l0/+1O\
        PqvGdLDTa+wwHwYDVR0jBBgwFoAUK43R6+O5t8l0/+1OPqvGdLDTa+wwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBG\
        AiEAow9o/AUmR/oxaXcm7K7AOGlTdpIQzGyvh4mxn8kkFQgCIQDcLHO/VveF9UG3TKQKLSueTk1tofw5hVYhdrjOAf+QUQ==
        """

    private func pem(_ base64: String, _ label: String = "PRIVATE KEY", lineEnd: String = "\n") -> String {
        let lines = stride(from: 0, to: base64.count, by: 64).map { base64.dropFirst($0).prefix(64) }
        return (["-----BEGIN \(label)-----"] + lines.map(String.init) + ["-----END \(label)-----", ""])
            .joined(separator: lineEnd)
    }

    private func failure(_ text: some Sequence<UInt8>) -> PrivateKeyError? {
        do throws(PrivateKeyError) {
            _ = try SigningKey(pem: Array(text).span)
            return nil
        } catch {
            return error
        }
    }

    private func failure(_ text: String) -> PrivateKeyError? { failure(text.utf8) }

    @Test(arguments: [
        (p256, PublicKeyKind.ellipticCurve(.p256), SignatureScheme.ecdsa(.p256)),
        (ed25519, .edwards(.ed25519), .edwards(.ed25519)),
        (rsa2048, .rsa(modulusLength: 256), .rsaPSS(.bits256)),
    ])
    func `a PKCS#8 key signs, and its public half verifies`(
        base64: String, kind: PublicKeyKind, scheme: SignatureScheme
    ) throws {
        let key = try SigningKey(pem: pem(base64).utf8.span)
        #expect(key.kind == kind)
        let components = try key.publicComponents().map(\.octets)
        let material: KeyMaterial =
            switch kind {
            case .rsa: try .rsa(modulus: components[0], exponent: components[1])
            case .ellipticCurve(let curve): try .ellipticCurve(curve, x: components[0], y: components[1])
            case .edwards(let curve): try .edwards(curve, point: components[0])
            }
        let publicKey = try PublicKey(material)
        let message = Array("message".utf8)
        let signature = try key.sign(message, scheme)
        let isValid = try SignatureChecker().isValid(signature.span, of: message.span, by: publicKey, scheme)
        #expect(isValid)
    }

    @Test func `line ends, text around the key and a missing last line end don't matter`() throws {
        let text = pem(Self.p256)
        #expect(failure(pem(Self.p256, lineEnd: "\r\n")) == nil)
        #expect(failure("Bag Attributes\n    friendlyName: a\n" + text + "\nthe end\n") == nil)
        #expect(failure(String(text.dropLast())) == nil)
        #expect(failure("-----BEGIN PRIVATE KEY-----\n\(Self.p256)\n-----END PRIVATE KEY-----") == nil)
    }

    @Test func `what is no usable key is refused with its reason`() {
        #expect(failure("") == .noKey)
        #expect(failure("not a key") == .noKey)
        #expect(failure([0x30, 0x81, 0x87, 0x02]) == .notText)
        #expect(failure(pem(Self.p256, "ENCRYPTED PRIVATE KEY")) == .encrypted)
        #expect(failure(pem(Self.p256, "RSA PRIVATE KEY")) == .otherFormat(label: "RSA PRIVATE KEY"))
        #expect(
            failure(pem("MAA=", "EC PARAMETERS") + pem(Self.p256, "EC PRIVATE KEY"))
                == .otherFormat(label: "EC PRIVATE KEY"))
        #expect(failure(pem(Self.p256, "PUBLIC KEY")) == .notPrivate)
        #expect(failure(pem(Self.certificate, "CERTIFICATE")) == .notPrivate)
        #expect(failure(pem(Self.p256) + pem(Self.p256)) == .severalKeys)
        #expect(failure(pem(Self.p256) + pem(Self.certificate, "CERTIFICATE")) == .severalKeys)
        #expect(failure(pem(Self.rsa1024)) == .tooSmall(bits: 1024))
        #expect(failure(pem(Self.secp256k1)) == .otherKind)
        #expect(failure(pem(Self.x25519)) == .otherKind)
    }

    @Test func `a damaged key is refused`() throws {
        #expect(failure(pem("")) == .malformed)
        #expect(failure(pem("AAAA")) == .malformed)
        #expect(failure(pem(String(Self.p256.dropLast(4)))) == .malformed)
        #expect(failure(pem(Self.p256 + "AAAA")) == .malformed)
        #expect(failure(pem("*" + Self.p256.dropFirst())) == .malformed)
        #expect(failure(pem(Self.p256).replacing("-----END PRIVATE KEY-----", with: "")) == .noLines)
        #expect(failure(pem(Self.p256).replacing("-----END PRIVATE", with: "-----END PUBLIC")) == .noLines)
        // The public point of another key.
        let other = try SigningKey(generating: .ellipticCurve(.p256)).publicComponents().flatMap(\.octets)
        let der = Array(Self.p256Octets.dropLast(64)) + other
        #expect(failure(pem(standardBase64(der))) == .inconsistent)
    }

    /// No input traps, and no part of a key gets into an error.
    @Test func `every change of one octet is a key or an error`() {
        let text = Array(pem(Self.p256).utf8)
        for index in text.indices.dropFirst(20) {
            var changed = text
            changed[index] ^= 1
            _ = failure(changed)
        }
    }

    @Test func `every reason says what to do`() {
        let errors: [PrivateKeyError] = [
            .noKey, .notText, .encrypted, .otherFormat(label: "RSA PRIVATE KEY"), .notPrivate, .severalKeys, .malformed,
            .tooSmall(bits: 1024), .tooLarge(bits: 9000), .otherKind, .inconsistent, .cryptographyUnavailable,
        ]
        #expect(Set(errors.map(\.text)).count == errors.count)
        #expect(PrivateKeyError.otherFormat(label: "EC PRIVATE KEY").text.contains("openssl pkcs8 -topk8 -nocrypt"))
    }

    @Test func `a certificate is of its own key only, and has the thumbprint that openssl prints`() throws {
        let text = pem(Self.certificate, "CERTIFICATE")
        guard let certificate = Certificate(pem: text.utf8.span) else {
            Issue.record("the certificate can't be read")
            return
        }
        let (key, other) = (try SigningKey(pem: pem(Self.p256).utf8.span), TestKey.p256.signing)
        let (matches, matchesOther) = (certificate.matches(key), certificate.matches(other))
        #expect(matches)
        #expect(!matchesOther)
        let thumbprint = certificate.thumbprint
        #expect(thumbprint == octets(hex: "675f5c16f7ee6602716559a6f480f49533a53d8f8ec3c5e5bdf8c79bdcc35388"))
        let isThere = Certificate(pem: pem(Self.p256).utf8.span) != nil
        #expect(!isThere)
    }

    private static let p256Octets = octets(
        hex:
            "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420ae689a0435d1e8850c1bb63ce27cfedb1d70f76a583775c5b11b4ad2718703c6a14403420004c3feb2c9e7b7bf7f124e1aed39479790f5d668ca7dae18e5db49e10bc619a4f112d8bd3cd3fd128aafbb611ee3412462e0ecd1a84f554f4fe878684927fb2f9d"
    )

    private func standardBase64(_ octets: [UInt8]) -> String {
        var text = base64URL(octets).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while text.count % 4 != 0 { text.append("=") }
        return String(text)
    }
}
