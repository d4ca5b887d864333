private import Host
internal import HTTPServer
private import IDToken
private import JSON
private import KeySource
private import NIOHTTP1
private import ReplayStore
private import Verification

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
                json.objects("providers", verifier.providers) { json, each in
                    json.member("id", each.provider.policy.id)
                    json.member("state", KeyState(each.snapshot, at: now).rawValue)
                }
                // An outage of the store does not affect verifications, so it is reported but does not affect
                // readiness.
                if let store {
                    json.name("store")
                    json.object { $0.member("state", store.status.health.rawValue) }
                }
            }
        }
        return end(record, json: text, status: isReady && stage == .serving ? .ok : .serviceUnavailable)
    }
}
