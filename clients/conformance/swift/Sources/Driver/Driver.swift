// Runs the conformance cases with the installed package: reads calls as JSON, one per line, and writes what they return.

import AssayClient
import Foundation

struct Asked: Decodable {
    var call: String
    var client: JSONValue
    var with: JSONValue
}

struct With {
    var members: [String: JSONValue]

    init(_ value: JSONValue) { members = value.object ?? [:] }

    func text(_ name: String) -> String? { members[name]?.string }
    func required(_ name: String) -> String { text(name) ?? "" }

    func seconds(_ name: String) -> Duration? {
        switch members[name] {
        case .integer(let seconds): .seconds(seconds)
        case .number(let seconds): .seconds(seconds)
        default: nil
        }
    }

    func integer(_ name: String) -> Int? {
        if case .integer(let integer) = members[name] { Int(integer) } else { nil }
    }

    func options<Options: Codable>(_ type: Options.Type = Options.self) throws -> Options {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(members))
    }
}

@main
enum Driver {
    static func main() async {
        var clients: [JSONValue.Key: (Assay, FakeTransport?)] = [:]
        while let line = readLine() {
            let said: JSONValue
            do {
                let asked = try JSONDecoder().decode(Asked.self, from: Data(line.utf8))
                if asked.call == "codes" {
                    print(try encoded(["result": .array(Code.all.sorted().map { .string($0) })]))
                    fflush(nil)
                    continue
                }
                let client = try clients[asked.client.key] ?? make(With(asked.client))
                clients[asked.client.key] = client
                said = try await answer(asked, client.0, client.1)
            } catch {
                said = ["failed": .string("\(error)")]
            }
            print((try? encoded(said)) ?? "")
            fflush(nil)
        }
    }

    static func encoded(_ said: JSONValue) throws -> String {
        String(decoding: try JSONEncoder().encode(said), as: UTF8.self)
    }

    static func make(_ with: With) throws -> (Assay, FakeTransport?) {
        guard case .array(let script)? = with.members["script"] else {
            var options = Assay.Options(apiKey: with.text("api_key"), apiKeyFile: with.text("api_key_file"))
            options.timeout = with.seconds("timeout") ?? options.timeout
            options.finishTimeout = with.seconds("finish_timeout") ?? options.finishTimeout
            options.retryFor = with.seconds("retry_for") ?? options.retryFor
            return (try Assay(with.required("url"), options: options), nil)
        }
        let fake = FakeTransport()
        for act in script.map({ With($0) }) {
            let call = { (name: String) in FakeTransport.Call(rawValue: act.required(name)) ?? .verify }
            let members = act.members["members"] ?? [:]
            if act.text("will") != nil {
                fake.will(call("will"), members)
            } else if act.text("fail") != nil {
                let status = act.integer("status") ?? 0
                fake.willFail(
                    call("fail"), status, act.required("code"), members, retryAfter: act.integer("retry_after"))
            } else {
                fake.willNotAnswer(call("no_answer"), sent: act.members["sent"]?.bool ?? false)
            }
        }
        return (Assay(transport: fake), fake)
    }

    static func answer(_ asked: Asked, _ assay: Assay, _ fake: FakeTransport?) async throws -> JSONValue {
        if asked.call == "fake", let fake {
            let names = fake.requests.map { JSONValue.string($0.call.rawValue) }
            return ["result": ["requests": .array(names), "waited": .integer(fake.waited.components.seconds)]]
        }
        if asked.call == "example" {
            let (status, body) = try await finish(assay, "the-secret-handle", "the.secret.token")
            return ["result": [.integer(Int64(status)), .object(body.mapValues { .string($0) })]]
        }
        do {
            return try await call(assay, asked.call, With(asked.with))
        } catch let error as AssayError {
            let text = { (text: String?) in text.map { JSONValue.string($0) } ?? .null }
            let kind: JSONValue = error.isRefused ? "refused" : error.isUnavailable ? "unavailable" : "error"
            let members: JSONValue = [
                "kind": kind, "status": .integer(Int64(error.status)), "code": text(error.code),
                "detail": text(error.detail),
                "spent": .bool(error.spent), "may_retry": .bool(error.mayRetry), "request_id": text(error.requestID),
                "retry_after": error.retryAfter.map { .integer(Int64($0)) } ?? .null, "claim": text(error.claim),
                "provider_error": text(error.providerError), "context": text(error.context),
                "challenge": error.members["challenge"].flatMap { error.challenge == nil ? nil : $0 } ?? .null,
                "dpop_nonce": text(error.dpopNonce),
            ]
            var dumped = ""
            dump(error, to: &dumped)
            return ["error": members, "printed": .string("\(error) \(dumped)")]
        }
    }

    static func said(_ value: some Encodable) throws -> JSONValue {
        var dumped = ""
        dump(value, to: &dumped)
        let result = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        return ["result": result, "printed": .string("\(value) \(dumped)")]
    }

    static func call(_ assay: Assay, _ name: String, _ with: With) async throws -> JSONValue {
        let provider = with.required("provider")
        switch name {
        case "begin": return try said(await assay.begin(provider, with.options()))
        case "begin_in_browser":
            return try said(
                await assay.beginInBrowser(provider, redirectURI: with.required("redirect_uri"), with.options()))
        case "finish":
            return try said(
                await assay.finish(with.required("sign_in"), idToken: with.text("id_token"), with.options()))
        case "finish_in_browser":
            let response = (with.members["response"]?.object ?? [:]).compactMapValues(\.string)
            let redirectURI = with.required("redirect_uri")
            return try said(
                await assay.finishInBrowser(
                    with.required("sign_in"), response: response, redirectURI: redirectURI, with.options()))
        case "refresh":
            return try said(
                await assay.refresh(
                    provider, refreshToken: with.required("refresh_token"), subject: with.required("subject"),
                    with.options()))
        case "revoke":
            try await assay.revoke(provider, token: with.required("token"), with.options())
            return ["result": nil]
        case "revoke_code":
            try await assay.revokeCode(provider, code: with.required("code"), with.options())
            return ["result": nil]
        case "proof":
            return try said(
                await assay.proof(
                    provider, binding: with.required("binding"), accessToken: with.required("access_token"),
                    method: with.required("method"), url: with.required("url"), with.options()))
        case "sign_out": return try said(await assay.signOut(provider, with.options()))
        case "verify":
            let singleUse = with.members["single_use"]?.bool ?? false
            return try said(
                await assay.verify(
                    with.required("id_token"), nonce: with.text("nonce"), with.options(), singleUse: singleUse))
        case "verify_access_token":
            return try said(await assay.verifyAccessToken(with.required("token"), with.options()))
        default:
            if let payload = with.members["payload"] {
                return try said(
                    await assay.verifyAppleNotification(payload, provider: with.text("provider"), with.options()))
            }
            return try said(
                await assay.verifyNotification(
                    with.required("token"), provider: with.text("provider"), with.options()))
        }
    }
}

extension JSONValue {
    typealias Key = String

    var key: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
