internal import HTTP
private import IDToken
private import JOSE
private import Keys
private import NIOHTTP1
private import Replay
private import SignIns
internal import Verification

/// Whether the service is ready, depending on its providers' keys.
struct Readiness {
    /// By provider number: readiness ignores the provider until its keys are newer than this version.
    private var excused: [Int: Int] = [:]

    /// Whether every provider that counts for readiness has usable keys.
    func isReady(_ verifier: RequestVerifier) -> Bool {
        let now = SystemClocks.monotonic()
        return verifier.singleIssuers.allSatisfy { number, provider, keys in
            provider.isOptional || isExcused(number, keys.snapshot)
                || provider.state(keys, at: now) != .unavailable
        }
    }

    /// Whether readiness ignores a provider: it was added while the service was ready, and has not had keys since.
    ///
    /// An unreachable new provider must not take instances out of service for users of the other providers. If all
    /// instances received the same settings at once, none would be left.
    private func isExcused(_ number: Int, _ snapshot: KeySnapshot?) -> Bool {
        excused[number].map { (snapshot?.version ?? 0) <= $0 } ?? false
    }

    /// Makes readiness ignore new providers that have no usable keys, until they have newer ones.
    mutating func excuseNewcomers(_ verifier: RequestVerifier, wasReady: Bool) {
        let now = SystemClocks.monotonic()
        let before = excused
        excused = [:]
        for (number, provider, keys) in verifier.singleIssuers where provider.state(keys, at: now) == .unavailable {
            excused[number] = wasReady ? keys.snapshot?.version ?? 0 : before[number]
        }
    }
}

extension ServiceLoop {
    func live(_ record: RequestRecord) -> HTTPResponse {
        end(record, json: Array("{\"status\":\"live\"}".utf8))
    }

    func ready(_ record: RequestRecord) -> HTTPResponse {
        let isReady = readiness.isReady(verifier)
        let now = SystemClocks.monotonic()
        let text = json { json in
            json.object { json in
                json.member("status", stage != .serving ? "shutting_down" : isReady ? "ready" : "unready")
                // Issuers of entries with many are fetched when needed, so readiness does not depend on them.
                json.objects("providers", verifier.singleIssuers) { json, each in
                    json.member("id", each.provider.policy.id)
                    json.member("state", each.provider.state(each.keys, at: now).rawValue)
                }
                // An outage of a store does not affect most verifications, so it is reported but does not affect
                // readiness.
                if let claims {
                    json.name("store")
                    json.object { $0.member("state", claims.status.health.rawValue) }
                }
                if let proofStore {
                    json.name("proof_store")
                    json.object { $0.member("state", proofStore.status.health.rawValue) }
                }
            }
        }
        return end(record, json: text, status: isReady && stage == .serving ? .ok : .serviceUnavailable)
    }
}
