import JOSE
import JSON
import TestSupport

/// Why a token is not verified under a set of these keys; `nil` where it is.
func verdict(
    _ token: String, _ keys: [JSONTree], allowing algorithms: SignatureAlgorithms = .all
) throws -> JWSError? {
    let set = try JWKSet(jwkSet(keys))
    let verifier = try JWSVerifier()
    do throws(JWSError) {
        _ = try verifier.verify(try CompactJWS(token), with: set, allowing: algorithms)
        return nil
    } catch {
        return error
    }
}

/// A token whose header has this `alg` and `kid`, signed by a key as that `alg` says, unless another one is given.
func token(_ alg: String, kid: String?, by key: TestKey, as signing: String? = nil) -> String {
    let kid = kid.map { ",\"kid\":\(json(.string($0)))" } ?? ""
    return compactJWS(header: #"{"alg":"\#(alg)"\#(kid)}"#, payload: "{}", signedBy: key, as: signing ?? alg)
}

func token(by key: TestKey) -> String { token(key.algorithm, kid: key.keyID, by: key) }
