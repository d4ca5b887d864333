private import Bytes
private import Host
internal import HTTPServer
private import JOSE
private import JSON
internal import NIOCore
internal import NIOHTTP1
private import NIOPosix
private import OpenSSL

/// A small OpenID Provider for development and tests, on loopback only. It signs anything that it is asked to sign,
/// with keys that it generates at each start. Never trust it in production.
package final class DevProviderServer: Sendable {
    private let listener: HTTPListener
    /// The address on which it listens, such as `127.0.0.1:9400`.
    package let address: String

    /// The audience of the provider's tokens.
    package static func audience(of kind: DevProviderKind) -> String {
        switch kind {
        case .apple: "com.example.app"
        case .google: "example-client-id.apps.example.com"
        }
    }

    /// The client secret of the Google-like provider. The Apple-like one accepts a client secret of any key.
    package static var clientSecret: String { SimulatedProvider.clientSecret }

    /// The issuer of one of the providers.
    package func issuer(of kind: DevProviderKind) -> String { Self.issuer(of: kind, at: address) }

    private static func issuer(of kind: DevProviderKind, at address: String) -> String {
        "http://\(address)/\(kind.rawValue)"
    }

    /// Generates keys and starts to listen on 127.0.0.1.
    ///
    /// - Parameter port: 0 lets the system choose one.
    /// - Throws: an I/O error if the port is in use.
    package static func start(port: Int) async throws -> DevProviderServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let responder = try await loop.submit { NIOLoopBound(DevResponder(), eventLoop: loop) }.get()
        let listener = try await HTTPListener.bind(
            .network(host: "127.0.0.1", port: port), on: group, acceptor: loop, limits: ListenerLimits(),
            unixSeconds: SystemClocks.unixSeconds
        ) { _ in responder.value }
        // The issuers contain the port, which is known only after binding.
        let address = listener.address
        try await loop.submit {
            responder.value.providers = try DevProviderKind.allCases.map { kind in
                try SimulatedProvider(
                    kind, issuer: Self.issuer(of: kind, at: address), audience: Self.audience(of: kind))
            }
        }.get()
        return DevProviderServer(listener)
    }

    private init(_ listener: HTTPListener) {
        self.listener = listener
        address = listener.address
    }

    package func stop() async { await listener.close() }
}

/// Answers the requests of a development provider. Confined to its only event loop.
private final class DevResponder: HTTPResponder {
    var providers: [SimulatedProvider] = []

    var isStopping: Bool { false }

    func route(_ head: RequestHead) -> HeadRouting { HeadRouting(bodyLimit: 64 * 1024) }

    func respond(to request: FailedRequest) -> HTTPResponse {
        error(.badRequest, "the request can't be read")
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        do {
            return .now(try answer(request))
        } catch let error as DevOAuthError {
            return .now(self.error(error == .invalidClient ? .unauthorized : .badRequest, error.rawValue))
        } catch {
            return .now(self.error(.internalServerError, "signing failed"))
        }
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let path = request.head.path.string
        if path == "/rotate" {
            guard request.head.method == .post else { return error(.methodNotAllowed, "POST to /rotate") }
            for index in providers.indices { try providers[index].rotate() }
            return json(.object(["rotated": .bool(true)]))
        }
        for index in providers.indices where path.hasPrefix("/\(providers[index].kind.rawValue)/") {
            let kind = providers[index].kind.rawValue
            if let response = try answer(request, path.dropFirst(kind.count + 1), &providers[index]) { return response }
        }
        return error(.notFound, "see the curl lines that were printed at the start")
    }

    private func answer(
        _ request: HTTPRequest, _ path: Substring, _ provider: inout SimulatedProvider
    ) throws -> HTTPResponse? {
        let now = SystemClocks.unixSeconds()
        let authorization = request.head.fields["Authorization"]?.string
        switch (path, request.head.method) {
        case ("/.well-known/openid-configuration", .get): return json(provider.discoveryDocument)
        case ("/keys", .get): return json(provider.keySet)
        case ("/authorize", .get):
            guard let query = FormParameters(request.head.query.bytes) else { throw DevOAuthError.invalidRequest }
            return redirect(try provider.authorize(query, now: now))
        case ("/token", .post) where request.isForm:
            guard let form = FormParameters(request.body) else { throw DevOAuthError.invalidRequest }
            return json(try provider.grant(form, authorization: authorization, now: now))
        case ("/token", .post): return try token(&provider, request.body, now: now)
        case ("/revoke", .post):
            guard request.isForm, let form = FormParameters(request.body) else { throw DevOAuthError.invalidRequest }
            try provider.revoke(form, authorization: authorization, now: now)
            return json(.object([:]))
        case ("/userinfo", .get) where provider.kind == .google:
            guard let claims = provider.userInfo(authorization: authorization) else {
                return error(.unauthorized, "invalid_token")
            }
            return json(claims)
        case ("/notification", .post): return try notification(provider, request.body, now: now)
        default: return nil
        }
    }

    private func token(_ provider: inout SimulatedProvider, _ body: [UInt8], now: Int64) throws -> HTTPResponse {
        guard let members = members(of: body) else {
            return error(.badRequest, "the body must be a JSON object such as {\"nonce\": \"...\", \"claims\": {}}")
        }
        let nonce = try members["nonce"]?.string ?? Self.random()
        let token = try provider.token(nonce: nonce, overriding: members["claims"]?.object ?? [:], now: now)
        var answer: [String: JSONTree] = ["id_token": .string(token), "nonce": .string(nonce)]
        if members["code"] == .bool(true) {
            let claims = try JSONTree(readingObject: CompactJWS(token).payload).object
            answer["code"] = .string(try provider.nativeCode(nonceClaim: claims?["nonce"]?.string, now: now))
        }
        return json(.object(answer))
    }

    private func notification(_ provider: SimulatedProvider, _ body: [UInt8], now: Int64) throws -> HTTPResponse {
        guard let members = members(of: body), let type = members["type"]?.string else {
            return error(
                .badRequest, "the body must be a JSON object such as {\"type\": \"consent-revoked\", \"claims\": {}}")
        }
        return json(
            try provider.notification(
                type, overriding: members["claims"]?.object ?? [:], id: Self.random(), now: now))
    }

    /// The members of a JSON object; none of an empty body; `nil` for anything else.
    private func members(of body: [UInt8]) -> [String: JSONTree]? {
        body.isEmpty ? [:] : (try? JSONTree(readingObject: body))?.object
    }

    private static func random() throws -> String {
        String(decoding: Base64URL.encode(try randomBytes(18)), as: UTF8.self)
    }

    /// Sends the browser back, with the parameters in the query or in a form that submits itself.
    private func redirect(_ answer: SimulatedProvider.AuthorizationResponse) -> HTTPResponse {
        func escaped(_ text: String) -> String {
            text.reduce(into: "") { $0 += ["&": "&amp;", "<": "&lt;", "\"": "&quot;"][$1] ?? String($1) }
        }
        guard answer.isForm else {
            let query = answer.parameters.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
            let separator = answer.redirectURI.contains("?") ? "&" : "?"
            return HTTPResponse(
                status: .found, contentType: "text/plain", body: [], requestID: "dev",
                headers: [("Location", answer.redirectURI + separator + query)])
        }
        let inputs = answer.parameters.map {
            "<input type=\"hidden\" name=\"\($0.name)\" value=\"\(escaped($0.value))\">"
        }.joined()
        let page =
            "<!doctype html><form method=\"post\" action=\"\(escaped(answer.redirectURI))\">\(inputs)<button>Continue</button></form><script>document.forms[0].submit()</script>\n"
        return HTTPResponse(
            status: .ok, contentType: "text/html; charset=utf-8", body: Array(page.utf8), requestID: "dev")
    }

    private func json(_ tree: JSONTree, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        var json = JSONWriter()
        json.value(tree)
        return HTTPResponse(
            status: status, contentType: "application/json", body: json.bytes + [UInt8(ascii: "\n")], requestID: "dev")
    }

    private func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPResponse {
        json(.object(["error": .string(text)]), status)
    }
}

@available(*, unavailable) extension DevResponder: Sendable {}

extension HTTPRequest {
    fileprivate var isForm: Bool {
        head.fields["Content-Type"]?.string.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
            // curl -d says so of the JSON in the printed commands too.
            && body.first != UInt8(ascii: "{")
    }
}

/// Percent-encodes everything but unreserved characters (RFC 3986, section 2.3).
private func percentEncoded(_ text: String) -> String {
    var form = FormWriter(reservingCapacity: 3 * text.utf8.count)
    form.addEncoded(text.utf8.span)
    return String(decoding: form.take(), as: UTF8.self)
}
