import COpenSSL
import HTTP
import JOSE
import NIOHTTP1
import Verification

/// An encrypted ID Token, and what OpenSSL alone needs for the two operations with keys in it.
let encryptionBenchmarks = [
    Benchmark("verify-encrypted") {
        let fixtures = try EncryptedFixtures()
        let endpoints = try Endpoints(opening: fixtures.encryption)
        let request = try Request(
            "POST", "/v1/verify",
            [
                "provider": .string("apple"), "nonce": .string(try Fixtures().nonce),
                "id_token": .string(try fixtures.token("ECDH-ES+A256KW.A256GCM.P-256")),
            ])
        return {
            let response = try endpoints.response(to: request)
            endpoints.pause()
            return response.status == .ok && response.body.count > shortestAnswer
        }
    },
    Benchmark("bare-agreement") {
        let agreement = try BareAgreement(EncryptedFixtures())
        return { agreement.agree() }
    },
    Benchmark("bare-signature") {
        let check = try BareSignature(EncryptedFixtures())
        return { check.isValid() }
    },
]

/// A key agreement on P-256 by OpenSSL alone. The sender's key is a point that came with the token, so it is read each
/// time, which includes the check that it is on the curve; OpenSSL's default would check its order, too.
@safe private final class BareAgreement {
    private let key: OpaquePointer
    private let context: OpaquePointer
    private let sender: [UInt8]

    init(_ fixtures: EncryptedFixtures) throws {
        let der = try fixtures.octets("private_key")
        sender = try fixtures.octets("sender")
        let key = unsafe der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &start, der.count)
        }
        guard let key = unsafe key, let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            throw Mistake("OpenSSL refuses the private key")
        }
        unsafe (self.key, self.context) = (key, context)
    }

    func agree() -> Bool {
        guard let peer = unsafe EVP_PKEY_new() else { return false }
        defer { unsafe EVP_PKEY_free(peer) }
        var secret = InlineArray<32, UInt8>(repeating: 0)
        var span = secret.mutableSpan
        return unsafe span.withUnsafeMutableBufferPointer { secret in
            var length = secret.count
            return unsafe EVP_PKEY_copy_parameters(peer, key) == 1
                && EVP_PKEY_set1_encoded_public_key(peer, sender, sender.count) == 1
                && EVP_PKEY_derive_init(context) == 1
                && EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1
                && EVP_PKEY_derive(context, secret.baseAddress, &length) == 1 && length == secret.count
        }
    }
}

/// A check of an ES256 signature by OpenSSL alone, the cheapest way that it has: with contexts that are made once.
@safe private final class BareSignature {
    private let digestContext: OpaquePointer
    private let keyContext: OpaquePointer
    private let digest: OpaquePointer
    private let message: [UInt8]
    private let signature: [UInt8]

    init(_ fixtures: EncryptedFixtures) throws {
        let der = try fixtures.octets("public_key")
        message = Array((fixtures.bare["message"] ?? "").utf8)
        signature = try fixtures.octets("signature")
        let key = unsafe der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return unsafe d2i_PUBKEY(nil, &start, der.count)
        }
        guard let key = unsafe key, let keyContext = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil),
            let digestContext = unsafe EVP_MD_CTX_new(), let digest = unsafe EVP_MD_fetch(nil, "SHA256", nil),
            unsafe EVP_PKEY_verify_init(keyContext) == 1
        else { throw Mistake("OpenSSL refuses the public key") }
        unsafe (self.digestContext, self.keyContext, self.digest) = (digestContext, keyContext, digest)
    }

    func isValid() -> Bool {
        var hash = InlineArray<32, UInt8>(repeating: 0)
        var span = hash.mutableSpan
        return unsafe span.withUnsafeMutableBufferPointer { hash in
            unsafe EVP_DigestInit_ex2(digestContext, digest, nil) == 1
                && EVP_DigestUpdate(digestContext, message, message.count) == 1
                && EVP_DigestFinal_ex(digestContext, hash.baseAddress, nil) == 1
                && EVP_PKEY_verify(keyContext, signature, signature.count, hash.baseAddress, hash.count) == 1
        }
    }
}
