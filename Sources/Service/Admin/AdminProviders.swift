private import Bytes
internal import HTTP
private import IDToken
private import JOSE
internal import Keys
internal import NIOCore
private import NIOHTTP1
internal import Verification

/// `GET /v1/providers` and `POST /v1/providers/{id}/refresh`.
extension AdminResponder {
    /// Longer than two consecutive fetches can take: the one in progress, and one that starts after the call.
    private static let refreshTimeout = Interval.seconds(45)

    /// Lists all providers; or one, or one issuer of it, if the query names them.
    func listProviders(_ request: HTTPRequest, _ record: RequestRecord) -> HTTPReply {
        let selected: Selection
        do throws(Problem) {
            selected = try Selection(request.head.query.string, service.verifier)
        } catch {
            return .now(service.end(record, error))
        }
        let loop = service.loop
        let providers = selected.provider.map { [$0] } ?? service.verifier.providers
        if let provider = selected.provider, let issuer = selected.issuer, let pool = provider.keys.pool {
            return later(pool.status(of: issuer), record) { status in
                self.answer(record) { json in
                    json.array("providers", [status]) { $1.write(provider, issuer: issuer, to: &$0) }
                }
            }
        }
        return later(EventLoopFuture.whenAllSucceed(providers.map { $0.keyState() }, on: loop), record) { states in
            self.answer(record) { json in
                json.array("providers", zip(providers, states)) { $1.1.write($1.0, to: &$0) }
            }
        }
    }

    private func answer(_ record: RequestRecord, _ writeProviders: (inout JSONWriter) -> Void) -> HTTPResponse {
        service.end(record) { json in
            json.object { json in
                writeProviders(&json)
                json.object("service") { json in
                    json.member("version", self.process.version)
                    json.member("started_at", self.process.startedAtUnixSeconds)
                }
            }
        }
    }

    func refresh(_ request: HTTPRequest, _ record: RequestRecord) -> HTTPReply {
        let id = Route.providerToRefresh(request.head.path)
        guard let (number, provider) = id.flatMap(service.verifier.provider) else {
            return .now(service.end(record, service.verifier.unknownProvider(named: id)))
        }
        let need: KeyStore.StateMachine.FetchReason
        let issuer: String?
        do throws(Problem) {
            need = .refresh(dropsOmitted: try Self.dropsOmitted(request.head.query.string))
            issuer = try Self.issuer(in: request, of: provider)
        } catch {
            return .now(service.end(record, error, provider: number))
        }
        let deadline = SystemClocks.monotonic() + Self.refreshTimeout
        func answer(_ status: KeyStatus, ofIssuer issuer: String?) -> HTTPResponse {
            guard status.snapshot?.isUsable(at: status.now) == true else {
                let pause = status.nextFetchIn.map { max($0.secondsRoundedUp, 1) } ?? 1
                return service.end(record, Problem.keysUnavailable(retryAfterSeconds: pause), provider: number)
            }
            return service.end(record) { status.write(provider, issuer: issuer, to: &$0) }
        }
        switch provider.keys {
        case .store(let store):
            let status = { store.wait(for: need, judgedBy: 0, until: deadline).flatMap { _ in store.status() } }
            return later(status(), record) { answer($0, ofIssuer: nil) }
        case .pool(let pool):
            let issuer = issuer ?? ""
            let status = {
                pool.wait(for: need, of: issuer, judgedBy: 0, until: deadline, by: nil).flatMap { _ in
                    pool.status(of: issuer)
                }
            }
            return later(status(), record) { answer($0, ofIssuer: issuer) }
        }
    }

    /// The issuer whose keys to refresh; `nil` for a provider with one.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func issuer(in request: HTTPRequest, of provider: Provider) throws(Problem) -> String? {
        let names: [JSONName] = ["issuer"]
        guard !request.body.isEmpty else {
            guard provider.issuers == nil else {
                throw .requestInvalid("This provider has many issuers; send the body {\"issuer\": \"…\"}.")
            }
            return nil
        }
        let body = try request.jsonObject()
        try body.requireOnly(names, in: "request")
        guard let issuer = try body.string(names[0], characters: 1...1024) else {
            if provider.issuers == nil { return nil }
            throw .requestInvalid("This provider has many issuers; send the body {\"issuer\": \"…\"}.")
        }
        try provider.requireIssuer(issuer)
        return issuer
    }

    /// What a refresh does with keys that are missing from the response.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` for any other query: a typo must not change which keys are dropped.
    private static func dropsOmitted(_ query: String) throws(Problem) -> Bool {
        switch query {
        case "", "drop_omitted=false": false
        case "drop_omitted=true": true
        default: throw .requestInvalid("The only query parameter of a refresh is drop_omitted, true or false.")
        }
    }
}

/// What a request for the list of providers selects.
private struct Selection {
    /// `nil`: all.
    var provider: Provider?
    /// `nil`: all of its issuers.
    var issuer: String?

    /// - Throws: ``Problem/requestInvalid(_:)``, ``Problem/providerUnknown(nearest:)``.
    init(_ query: String, _ verifier: RequestVerifier) throws(Problem) {
        guard !query.isEmpty else { return }
        let problem = Problem.requestInvalid(
            "The query parameters of this list are provider, and with it issuer, each once and percent-encoded.")
        var values: [String: String] = [:]
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, ["provider", "issuer"].contains(parts[0]),
                let octets = percentDecoded(parts[1]), let value = String(validating: octets, as: UTF8.self),
                values.updateValue(value, forKey: String(parts[0])) == nil
            else { throw problem }
        }
        guard let id = values["provider"] else { throw problem }
        guard let found = verifier.provider(id)?.provider else { throw verifier.unknownProvider(named: id) }
        provider = found
        issuer = values["issuer"]
        if let issuer { try found.requireIssuer(issuer) }
    }
}

extension Provider {
    /// - Throws: ``Problem/requestInvalid(_:)``, ``Problem/providerUnknown(nearest:)`` if it does not have this issuer.
    fileprivate func requireIssuer(_ issuer: String) throws(Problem) {
        switch issuers {
        case .listed(let list): if list[issuer] == nil { throw .providerUnknown() }
        case .any(let rules):
            if let refusal = rules.refusal(of: issuer) { throw .requestInvalid("\(refusal); correct it.") }
        case nil: if policy.canonicalIssuer(of: issuer) == nil { throw .providerUnknown() }
        }
    }

    /// The state of its keys, for operators.
    func keyState() -> EventLoopFuture<ProviderKeyState> {
        switch keys {
        case .store(let store): store.status().map { .one($0) }
        case .pool(let pool): pool.summary().map { .many($0) }
        }
    }
}

/// The state of a provider's keys, for operators.
enum ProviderKeyState: Sendable {
    case one(KeyStatus)
    case many(IssuerPoolSummary)

    /// `nil` for an entry with many issuers.
    var ofOneIssuer: KeyStatus? { if case .one(let status) = self { status } else { nil } }
    /// `nil` for an entry with one issuer.
    var ofMany: IssuerPoolSummary? { if case .many(let summary) = self { summary } else { nil } }

    /// Writes a provider's settings and the state of its keys, as far as operators may see them. None of it is secret.
    fileprivate func write(_ provider: Provider, to json: inout JSONWriter) {
        switch self {
        case .one(let status): status.write(provider, to: &json)
        case .many(let summary): summary.write(provider, to: &json)
        }
    }
}

extension KeyStatus {
    /// - Parameter issuer: one of an entry with many; `nil` for an entry with one.
    fileprivate func write(_ provider: Provider, issuer: String? = nil, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", provider.policy.id)
            json.member("issuer", issuer ?? provider.policy.issuer)
            let listed = issuer.flatMap { provider.issuers?.list?[$0] }
            json.array("audiences", listed?.audiences ?? provider.policy.audiences)
            json.member(
                "state",
                issuer == nil ? KeyState(snapshot, at: now).rawValue : IssuerPoolSummary.State(self).rawValue)
            json.member("optional", issuer != nil || provider.isOptional)
            json.member("source", snapshot?.source.rawValue)
            let keys = snapshot?.keys.keys ?? []
            let firstOmitted = keys.count - (snapshot?.omittedKeyCount ?? 0)
            json.objects("keys", keys.enumerated()) { json, entry in
                let (index, key) = entry
                json.member("kid", key.keyID)
                json.member("kty", key.keyType)
                json.member("crv", key.curve)
                json.member("alg", key.algorithm)
                json.member("use", key.use)
                json.member("usable", key.isUsable)
                json.member("omitted", index >= firstOmitted)
            }
            json.member("keys_hash", snapshot?.fingerprint)
            json.member("fetched_at", snapshot?.fetchedAtUnixSeconds)
            json.member("next_fetch_at", nextFetchAt(unixSeconds: SystemClocks.unixSeconds()))
            json.name("last_error")
            writeLastError(to: &json)
        }
    }
}

extension IssuerPoolSummary {
    /// Writes an entry with many issuers.
    fileprivate func write(_ provider: Provider, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", provider.policy.id)
            json.member("issuers", provider.issuers?.isOpen == true ? "any" : "listed")
            json.member("listed", provider.issuers?.list.map { Int64($0.count) })
            json.array("audiences", provider.policy.audiences)
            json.object("states") { json in
                for (state, count) in counts {
                    json.name(escaping: state.rawValue)
                    json.value(Int64(count))
                }
            }
            json.objects("failing", failing) { json, each in
                json.member("issuer", each.issuer)
                json.member("state", KeyState(each.status.snapshot, at: each.status.now).rawValue)
                json.member("next_fetch_at", each.status.nextFetchAt(unixSeconds: SystemClocks.unixSeconds()))
                json.name("last_error")
                each.status.writeLastError(to: &json)
            }
        }
    }
}
