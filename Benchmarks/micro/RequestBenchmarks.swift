import HTTP
import IDToken
import JOSE
import Keys
import NIOEmbedded
import NIOPosix
import Verification

/// From the request body of `POST /v1/verify` to the response body: everything but HTTP.
let requestBenchmarks = [
    Benchmark("answer") {
        let request = try VerifyRequest(try JSONObject(try Fixtures().request("RS256")))
        guard case .decided(.verified(let answer, _)) = try requestVerifier().verify(request, at: .now()) else {
            throw Mistake("a good token was refused")
        }
        let scratch = Scratch()
        return { scratch.text { answer.write(to: &$0) }.count > shortestAnswer }
    },
    request("verify-RS256", token: "RS256", code: "ok"),
    request("verify-ES256", token: "ES256", code: "ok"),
    request("refuse-expired", token: "expired", code: "token_expired"),
    request("refuse-forged", token: "forged", code: "signature_invalid"),
    request("refuse-malformed", token: "malformed", code: "token_malformed"),
    Benchmark("forward-auth") {
        let fields = AuthorizationField(value: try Array("Bearer ".utf8) + Fixtures().token("RS256"))
        let forwardAuth = ForwardAuth(
            [ForwardAuthPolicy(id: "web", providers: ["apple"])], by: try requestVerifier(), nil)
        guard let rule = forwardAuth.rule(named: Array("web".utf8)[...]) else { throw Mistake("no policy") }
        return {
            let now = VerificationTime.now()
            let token = try rule.policy.token(in: fields)
            guard
                case .decided(let verdict) = forwardAuth.verify(token.text, with: BindingEvidence(), by: rule, at: now),
                case .allowed(let fields, _) = forwardAuth.decision(on: verdict, by: rule, at: now)
            else { return false }
            return fields.count == IdentityHeader.usual.count
        }
    },
]

/// A request's only header field.
private struct AuthorizationField: RequestFields {
    let value: [UInt8]

    func values(named name: String) -> [ArraySlice<UInt8>] { [value[...]] }
}

/// A reused writer, like that of an event loop.
private final class Scratch {
    private var json = JSONWriter()

    func text(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        json.removeAll()
        write(&json)
        return json.bytes
    }
}

/// Sizes in octets that every complete answer or problem exceeds.
let (shortestAnswer, shortestProblem) = (700, 200)

private func request(_ name: String, token: String, code: String) -> Benchmark {
    Benchmark(name) {
        let body = try Fixtures().request(token)
        let verifier = try requestVerifier()
        let scratch = Scratch()
        return {
            switch verifier.verify(try VerifyRequest(try JSONObject(body, allowsNUL: true)), at: .now()) {
            case .decided(.verified(let answer, _)):
                return code == "ok" && scratch.text { answer.write(to: &$0) }.count > shortestAnswer
            case .decided(.refused(let problem, _)):
                let text = scratch.text { problem.write(to: &$0, requestID: "0123456789abcdef") }
                return problem.code == code && text.count > shortestProblem
            case .pending: return false
            }
        }
    }
}

/// An event loop's verifier for one provider, with its own keys.
private func requestVerifier() throws -> RequestVerifier {
    let keys = try deliveredKeys(try Fixtures().keySet(["RS256", "RS384", "RS512", "ES256"]))
    let store = unusedStore(on: EmbeddedEventLoop())
    let provider = Provider(policy: applePolicy(), isOptional: false, keys: .store(store))
    return RequestVerifier([(provider, .one(keys, store))], by: try IDTokenVerifier())
}

/// An event loop's copy of a key set.
func deliveredKeys(_ keySet: [UInt8]) throws -> LoopKeySnapshot {
    let fetched = FetchedKeys(
        keys: try JWKSet(keySet), text: keySet, algorithms: .all, source: .network, lifetime: nil,
        fetchedAtUnixSeconds: 1_700_000_000)
    // Long ago, so that the answer's age_seconds has the same number of digits in slow and fast runs.
    let fetchedAt = SystemClocks.monotonic() - .seconds(2000)
    let delivered = LoopKeySnapshot()
    delivered.install(
        KeySnapshot(
            version: 1, fetched, omitted: [], fetchedAt: fetchedAt,
            // As in a flood of bad signatures, whose first one has already triggered a key fetch.
            confirmedUntil: fetchedAt + .seconds(86_400), freshUntil: fetchedAt + .seconds(86_400),
            usableUntil: fetchedAt + .seconds(172_800)))
    return delivered
}

/// A key store that is never started. A provider needs one, but its threads must not run during a measurement.
func unusedStore(on loop: EmbeddedEventLoop) -> KeyStore {
    KeyStore(
        rules: KeyRules(), fetcher: NoFetcher(), archive: nil, threads: NIOThreadPool(numberOfThreads: 1), on: loop,
        onEvent: { _ in })
}

private struct NoFetcher: KeyFetching {
    func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        throw FetchFailure(.file, "unused")
    }
}
