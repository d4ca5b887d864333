import Foundation
import OpenSSL
import Testing
import TestSupport

@Suite struct CertificateTests {
    /// Created with `openssl req -x509` and `openssl x509 -req`, with P-256 keys unless stated otherwise. The private
    /// keys were discarded. Validity dates are not checked.
    private static let selfSigned = """
        MIIBBTCBrAIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARzZWxmMB4XDTI2MTEyMTEzMzYwNloXDTI2MTEyMjEzMzYwNlowDzEN\
        MAsGA1UEAwwEc2VsZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKc/aqJiYNbxVlgn92FLrQsROPzd7EAudX+f4aY/Vj25aluy\
        H6eWPDgxSPVFSre+nTNPoyLUHpCMjYQB/Pv2c9kwCgYIKoZIzj0EAwIDSAAwRQIhAIGV18C8xoZ4oWQitEYQ1zw9Mo6adEeF3QIf\
        58a/uoUIAiB5afclcQv5zx0nXHHWY67sL25JOHEva3biuTJOdIlYDw==
        """
    /// Issued by a CA with another name.
    private static let issued = """
        MIIBCjCBsQIBAzAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwHhcNMjYxMTIxMTMzNjA2WhcNMjYxMTIyMTMzNjA2\
        WjAPMQ0wCwYDVQQDDARob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEzBSULEX8PzxvKQxEiMxn0kN7FH1HMvYx9OCFJ0Mp\
        5WmGCa5WvfcDpfAlXWS8OjIx5kzrLrK90zZO376ahMhR4jAKBggqhkjOPQQDAgNIADBFAiA4Mt6iLLjHkaVNlFfF8+VXno3RBJSn\
        Ovb5nIlLtgkaCgIhALz1MwkWYgwqbWDwyvb1ILJjVIPDHlK9msDqOd0b41MY
        """
    private static let signedWithSHA1 = """
        MIIBAzCBqwIBATAJBgcqhkjOPQQBMA8xDTALBgNVBAMMBHNlbGYwHhcNMjYxMTIxMTMzOTA0WhcNMjYxMTIyMTMzOTA0WjAPMQ0w\
        CwYDVQQDDARzZWxmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKvc4Dp7aCpO+8mVbAMSoNQ/VeOWZOcUYdV3V8Gw3gIao318a\
        LA5XXd576rcGVrLCUcxCqeA48W+oyCt/qYO+ZzAJBgcqhkjOPQQBA0gAMEUCIE3+FKmUPP/ONaWJ/afnG0Zio5Gogvd4Om40pAxm\
        m6SmAiEA3ZuQxpSOXzKZQhI0VGmRP7AEGxOhwu2MLpQQ4MnfuPw=
        """
    private static let rsaSignedWithSHA1 = """
        MIIBjDCB9gIBATANBgkqhkiG9w0BAQUFADAPMQ0wCwYDVQQDDARzZWxmMB4XDTI2MTEyMTEzMzkwNFoXDTI2MTEyMjEzMzkwNFow\
        DzENMAsGA1UEAwwEc2VsZjCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEA7h5pNfAw/dR/fW04Ar5/A96GUk/m8JT91g6MOGjb\
        zb4YiVzS8jcQ9HbKCPxcOGoRCUqH26F+S3e4xP8XcHsHYesLZ8Ja+xX6/qUx2F1GCV2744mxXVlevzVEOqnM6cnDJPIK9EAMCigd\
        09QH28xKEbIZEMwzgqdibrWnXo8xROsCAwEAATANBgkqhkiG9w0BAQUFAAOBgQA/P89qJo9U9OHMU7Qs18EPrhgJxmVKaOkZh6ih\
        4tFjMMBv55DNz3Tl31NzNHFu+VqMLKX9Y6kbIjU1yMGKvBfgcP5O9YGoVbhCg9SkuYBT4d0v4FdJ4nPqksxduU5sUv1IM8Za3jlR\
        D2zhWyxRxg/Dhnb7u7qv88bBi3X2uMFR1w==
        """
    private static let signedWithSHA512 = """
        MIIBBTCBrAIBATAKBggqhkjOPQQDBDAPMQ0wCwYDVQQDDARzZWxmMB4XDTI2MTEyMTEzMzkwNFoXDTI2MTEyMjEzMzkwNFowDzEN\
        MAsGA1UEAwwEc2VsZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN5rU24MifLWjQ/DDNojtwYWfLzsW/1jSfYn9JMzgvBYlsBV\
        Mr/CGHqU7Qe7CKw8/XBQRtP5wi/BU00v5lnlNeQwCgYIKoZIzj0EAwQDSAAwRQIhAJJgpWGLzPX8aLG2VFBlTMFoH5Dw7g2ABuRy\
        7B8K+RYgAiBGjlbIJHgp9+g2vEv0lwtPxoi/D484+YSNwDKLVJ+XaQ==
        """
    private static let ed25519 = """
        MIHEMHgCAQEwBQYDK2VwMA8xDTALBgNVBAMMBHNlbGYwHhcNMjYxMTIxMTMzOTA0WhcNMjYxMTIyMTMzOTA0WjAPMQ0wCwYDVQQD\
        DARzZWxmMCowBQYDK2VwAyEAkaQLqIJRDyfS1T3yIiivp3YLQW4LN2AvONY3YMqUL40wBQYDK2VwA0EAho/KDg/huO0v4hI06sIT\
        mMpO9azF14kusWYku2mocfudBRAWmaTsHBkPG71YSbHYMzK04ESMbTZqn3a30cikBw==
        """

    private func der(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }

    private func isSelfSigned(_ der: [UInt8]) -> Bool? {
        guard let certificate = Certificate(der) else { return nil }
        return certificate.isSelfSigned
    }

    private func hasWeakSignature(_ der: [UInt8]) -> Bool? {
        guard let certificate = Certificate(der) else { return nil }
        return certificate.hasWeakSignature
    }

    @Test func `a certificate that names itself as its authority is self-signed, one by another is not`() throws {
        #expect(try isSelfSigned(der(Self.selfSigned)) == true)
        #expect(try isSelfSigned(der(Self.issued)) == false)
    }

    /// It is used for explanations only.
    @Test func `its signature is not looked at`() throws {
        let certificate = try der(Self.selfSigned)
        #expect(isSelfSigned(certificate.flippingBit(certificate.count * 8 - 8)) == true)
    }

    // MARK: The signature's hash function

    @Test func `a signature with SHA-256 is not weak`() throws {
        for text in [Self.selfSigned, Self.issued] {
            #expect(try hasWeakSignature(der(text)) == false)
        }
    }

    @Test func `one with SHA-1 is, by whatever key`() throws {
        for text in [Self.signedWithSHA1, Self.rsaSignedWithSHA1] {
            #expect(try hasWeakSignature(der(text)) == true)
        }
    }

    @Test func `a key that needs no hash function, or one of SHA-512, is not weak`() throws {
        for text in [Self.ed25519, Self.signedWithSHA512] {
            #expect(try hasWeakSignature(der(text)) == false)
        }
    }

    // MARK: The key

    private func publicKey(_ der: [UInt8]) -> (kind: PublicKeyKind, components: PublicComponents)? {
        guard let certificate = Certificate(der) else { return nil }
        return certificate.publicKey
    }

    @Test func `an RSA key is known by its modulus and exponent, one on a curve by its coordinates`() throws {
        let rsa = try #require(publicKey(der(Self.rsaSignedWithSHA1)))
        #expect(rsa.kind == .rsa(modulusLength: 128))
        #expect(rsa.components.map(\.name) == ["n", "e"])
        #expect(hex(rsa.components[0].octets.prefix(4)) == "ee1e6935")
        #expect(rsa.components[1].octets == [1, 0, 1])
        let curve = try #require(publicKey(der(Self.selfSigned)))
        #expect(curve.kind == .ellipticCurve(.p256))
        #expect(curve.components.map(\.name) == ["x", "y"])
        #expect(hex(curve.components[0].octets.prefix(4)) == "a73f6aa2")
        #expect(hex(curve.components[1].octets.suffix(4)) == "fbf673d9")
    }

    @Test func `a key of another kind is none`() throws {
        #expect(try publicKey(der(Self.ed25519)) == nil)
    }

    // MARK: Damage

    @Test func `what is no certificate is none`() throws {
        let certificate = try der(Self.selfSigned)
        for octets in [
            [], [0], [0x30], [0x30, 0], Array("-----BEGIN CERTIFICATE-----".utf8), Array(Self.selfSigned.utf8),
            certificate.dropLast(), Array(certificate.dropFirst()), certificate.flippingBit(0),
            [UInt8](repeating: 0x30, count: 1000),
        ] as [[UInt8]] {
            #expect(isSelfSigned(octets) == nil, "\(hex(octets.prefix(4)))")
        }
    }

    @Test func `whatever a certificate holds, looking at it ends`() throws {
        let certificate = try der(Self.selfSigned)
        var read = 0
        for bit in 0..<certificate.count * 8 {
            guard let damaged = Certificate(certificate.flippingBit(bit)) else { continue }
            _ = damaged.publicKey
            read += damaged.isSelfSigned && !damaged.hasWeakSignature ? 1 : 0
        }
        // Octets that are not structure may have any value.
        #expect((100..<certificate.count * 8 - 100).contains(read))
    }
}
