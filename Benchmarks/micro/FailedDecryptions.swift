import JOSE
import OpenSSL
import Verification

/// Encrypted tokens that can't be opened, for every way in which their senders can cause that once the header is
/// accepted; failures.py compares what they cost. They are named `FAMILY KIND`: all of a family must cost the same.
///
/// A family whose name begins with `planted-` has a reader that gives away what failed, which failures.py must find.
let failedDecryptions = families.flatMap(\.benchmarks) + planted

private let families = [
    Family("ECDH-ES.A128GCM.P-256", changes + agreement + [.init("public-key") { $0[1] = [0] }]),
    Family("ECDH-ES+A256KW.A256GCM.P-256", changes + wrapped + agreement),
    Family("ECDH-ES+A128KW.A256CBC-HS512.P-256", changes + wrapped + agreement),
    Family("ECDH-ES+A256KW.A256GCM.X25519", changes + wrapped),
    Family("RSA-OAEP.A128CBC-HS256.RSA", changes + wrapped + padding),
    Family("RSA-OAEP-256.A256GCM.RSA", changes + wrapped + padding),
]

private struct Family: Sendable {
    /// The name of a token that can be opened.
    let name: String
    let kinds: [Kind]

    init(_ name: String, _ kinds: [Kind]) { (self.name, self.kinds) = (name, kinds) }

    var benchmarks: [Benchmark] {
        kinds.map { kind in
            Benchmark("\(name) \(kind.name)") { [name] in
                let fixtures = try EncryptedFixtures()
                let token = try kind.token(name, fixtures)
                return {
                    do throws(Problem) {
                        _ = try fixtures.encryption.open(fixtures.encryption.read(token[...]))
                        return false
                    } catch {
                        return error.code == "decryption_failed"
                    }
                }
            }
        }
    }
}

/// A kind of failure. What everyone can see in the token itself begins with `public-`: it may cost something else, but
/// the operations with secrets must be the same.
private struct Kind: Sendable {
    let name: String
    private let suffix: String
    private let change: @Sendable (inout [[UInt8]]) throws -> Void

    /// - Parameter change: of the decoded parts of a token that can be opened.
    init(_ name: String, _ change: @escaping @Sendable (inout [[UInt8]]) throws -> Void) {
        (self.name, suffix, self.change) = (name, "", change)
    }

    /// A token that was made so.
    init(made name: String) { (self.name, suffix, change) = (name, ".\(name)", { _ in }) }

    func token(_ family: String, _ fixtures: EncryptedFixtures) throws -> [UInt8] {
        var parts = try Array(try fixtures.token(family + suffix).utf8)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { part in
                guard let octets = Base64URL.decode(part.span) else { throw Mistake("encrypted.json has a bad token") }
                return octets
            }
        try change(&parts)
        return Array(parts.map { Base64URL.encode($0) }.joined(separator: [UInt8(ascii: ".")]))
    }
}

private let changes = [
    Kind("tag") { $0[4][0] ^= 1 },
    Kind("tag-end") { $0[4][$0[4].count - 1] ^= 1 },
    Kind("text") { $0[3][0] ^= 1 },
    Kind("vector") { $0[2][0] ^= 1 },
    Kind("header") { parts in
        // Another spelling of the content type has the same meaning, but is not what was authenticated.
        guard let start = parts[0].indices.first(where: { parts[0][$0...].starts(with: "JWT".utf8) }) else {
            throw Mistake("encrypted.json has a token without cty")
        }
        parts[0][start] = UInt8(ascii: "j")
    },
    Kind(made: "other"),
    Kind("public-tag") { $0[4].removeLast() },
    Kind("public-vector") { $0[2].removeLast() },
]
private let wrapped = [
    Kind("key") { $0[1][$0[1].count / 2] ^= 1 },
    Kind("key-end") { $0[1][$0[1].count - 1] ^= 1 },
    Kind("public-key") { $0[1].removeLast() },
]
private let padding = [Kind(made: "length"), Kind(made: "zero")]
/// The last octet of the sender's point, which is then not on the curve.
private let agreement = [
    Kind("public-point") { parts in
        let name = Array("\"y\":\"".utf8)
        guard let start = parts[0].indices.first(where: { parts[0][$0...].starts(with: name) }) else {
            throw Mistake("encrypted.json has a token without a point")
        }
        let digit = start + name.count
        parts[0][digit] = parts[0][digit] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    }
]

/// A reader that stops when the key can't be recovered, and one that makes the same calls, but works on the text if it
/// was.
private let planted =
    reader("planted-return", "tag", "key") { fixtures, token in
        let key = try fixtures.key("RSA")
        return {
            let recovered = try key.decrypt(token.key.span, oaep: .sha256, expecting: 32)
            guard recovered.isRight else { return true }
            return try token.open(recovered.octets) == nil
        }
    }
    + reader("planted-work", "tag", "key") { fixtures, token in
        let key = try fixtures.key("RSA")
        let other = try SecretBytes(random: 32)
        return {
            let recovered = try key.decrypt(token.key.span, oaep: .sha256, expecting: 32)
            let octets = try recovered.octets.selected(by: recovered.isRight ? 0xff : 0, else: other)
            if recovered.isRight, Base64URL.encode(token.sealed).isEmpty { return false }
            return try token.open(octets) == nil
        }
    }

/// The parts of a token of A256GCM.
private struct PlantedToken {
    let header: [UInt8]
    let key: [UInt8]
    let vector: [UInt8]
    let sealed: [UInt8]

    func open(_ key: SecretBytes) throws -> SecretBytes? {
        try AuthenticatedCipher().open(sealed.span, under: key, nonce: vector.span, beside: header.span)
    }
}

private func reader(
    _ family: String, _ names: String...,
    read: @escaping @Sendable (EncryptedFixtures, PlantedToken) throws -> Benchmark.Iteration
) -> [Benchmark] {
    (changes + wrapped).filter { names.contains($0.name) }.map { kind in
        Benchmark("\(family) \(kind.name)") {
            let fixtures = try EncryptedFixtures()
            let parts = try kind.token("RSA-OAEP-256.A256GCM.RSA", fixtures)
                .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let decoded = parts.map { Base64URL.decode($0.span) ?? [] }
            return try read(
                fixtures,
                PlantedToken(
                    header: Array(parts[0]), key: decoded[1], vector: decoded[2], sealed: decoded[3] + decoded[4]))
        }
    }
}
