private import Host
internal import HTTPServer
private import IDToken
private import JSON
private import KeySource
private import NIOHTTP1
private import Verification

extension ServiceLoop {
    func live(_ record: RequestRecord) -> HTTPResponse {
        end(record, json: Array("{\"status\":\"live\"}".utf8))
    }

    func ready(_ record: RequestRecord) -> HTTPResponse {
        let isReady = readiness.isReady(verifier)
        let now = SystemClocks.monotonic()
        let text = json { json in
            json.beginObject()
            json.member("status", stage != .serving ? "shutting_down" : isReady ? "ready" : "unready")
            json.name("providers")
            json.beginArray()
            for (_, provider, snapshot) in verifier.providers {
                json.beginObject()
                json.member("id", provider.policy.id)
                json.member("state", KeyState(snapshot, at: now).rawValue)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        return end(record, json: text, status: isReady && stage == .serving ? .ok : .serviceUnavailable)
    }
}
