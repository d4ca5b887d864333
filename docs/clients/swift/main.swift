// The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
//
//   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
//   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
//   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
//
// The other calls work the same way, by name. A real backend never sends a grant to an app.

import Foundation

struct Request: Decodable {
    var begin: BeginRequest?
    var begin_in_browser: BeginRequest?
    var finish: FinishRequest?
    var finish_in_browser: FinishBrowserRequest?
    var verify: Verify?
    var refresh: RefreshRequest?
    var revoke: RevokeRequest?
    var revoke_by_code: RevokeByCodeRequest?
    var receive: Receive?
}

struct Receive: Decodable {
    let content_type: String
    let body: String
}

/// Stands in for the database.
actor Done {
    private var known: Set<[String]> = []
    private var events: [String] = []

    func act(on notification: Notification) {
        guard known.insert([notification.provider, notification.id]).inserted else { return }
        events = notification.events.map(\.type)
    }

    func take() -> [String] {
        defer { events = [] }
        return events
    }
}

struct Verify: Decodable {
    struct Options: Decodable { var single_use: Bool? }

    let signIn: SignIn
    let singleUse: Bool

    init(from decoder: any Decoder) throws {
        signIn = try SignIn(from: decoder)
        singleUse = try Options(from: decoder).single_use ?? false
    }
}

struct Said: Encodable {
    var begun: BegunSignIn?
    var begunInBrowser: BegunBrowserSignIn?
    var finished: FinishedSignIn?
    var verified: Identity?
    var answered: Int?
    var done: [String]?
    var refused: String?
    var unavailable: Int?
    var refreshed: Refreshed?
    var revoked: Bool?
    var error: Int?
    var code: String?
    var spent: Bool?
    var log: String?
    var providerError: String?
    var context: String?
}

let environment = ProcessInfo.processInfo.environment
let assay = Assay(url: environment["ASSAY_URL"] ?? "http://127.0.0.1:8080", apiKey: environment["ASSAY_API_KEY"])

let done = Done()
let receiver = Receiver(assay: assay) { await done.act(on: $0) }

func answer(_ request: Request) async throws -> Said {
    if let sent = request.receive {
        let status = try await receiver.receive(contentType: sent.content_type, body: sent.body)
        return Said(answered: status, done: await done.take())
    }
    if let begin = request.begin { return Said(begun: try await assay.begin(begin)) }
    if let begin = request.begin_in_browser { return Said(begunInBrowser: try await assay.beginInBrowser(begin)) }
    if let finish = request.finish { return Said(finished: try await assay.finish(finish)) }
    if let finish = request.finish_in_browser { return Said(finished: try await assay.finishInBrowser(finish)) }
    if let refresh = request.refresh { return Said(refreshed: try await assay.refresh(refresh)) }
    if let revoke = request.revoke {
        try await assay.revoke(revoke)
        return Said(revoked: true)
    }
    if let revoke = request.revoke_by_code {
        try await assay.revokeByCode(revoke)
        return Said(revoked: true)
    }
    guard let verify = request.verify else { return Said() }
    switch try await assay.verify(verify.signIn, singleUse: verify.singleUse) {
    case .verified(let identity): return Said(verified: identity)
    case .refused(let code, _, _): return Said(refused: code)
    case .unavailable(let retryAfter): return Said(unavailable: retryAfter)
    }
}

while let line = readLine() {
    var said: Said
    do {
        said = try await answer(JSONDecoder().decode(Request.self, from: Data(line.utf8)))
    } catch let error as AssayError {
        // The text of the error is for the log. It has no token and no handle.
        said = Said(error: error.status, code: error.code, spent: error.spent, log: "\(error)")
        said.providerError = error.providerError
        said.context = error.context
    }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    FileHandle.standardOutput.write(try encoder.encode(said) + Data("\n".utf8))
}
try await assay.shutdown()
