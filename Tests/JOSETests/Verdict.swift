import JOSE
import TestSupport

/// Why a token is rejected with these keys; `nil` if it is verified.
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

/// A token with this `alg` and `kid`, signed with `alg` unless `signing` names another algorithm.
func token(_ alg: String, kid: String?, by key: TestKey, as signing: String? = nil) -> String {
    let kid = kid.map { ",\"kid\":\(json(.string($0)))" } ?? ""
    return compactJWS(header: #"{"alg":"\#(alg)"\#(kid)}"#, payload: "{}", signedBy: key, as: signing ?? alg)
}

func token(by key: TestKey) -> String { token(key.algorithm, kid: key.keyID, by: key) }
