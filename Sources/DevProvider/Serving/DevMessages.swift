private import Bytes
internal import HTTP
internal import JOSE
internal import NIOHTTP1

extension HTTPResponse {
    static func json(_ tree: JSONTree, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "application/json", body: tree.json + [UInt8(ascii: "\n")], requestID: "dev")
    }

    static func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPResponse {
        json(.object(["error": .string(text)]), status)
    }

    static func file(_ type: StaticString, _ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: .ok, contentType: type, body: bytes, requestID: "dev",
            headers: [("X-Content-Type-Options", "nosniff")])
    }

    /// Sends the browser elsewhere, with a GET.
    static func redirect(_ url: String, settingCookie cookie: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(
            status: .seeOther, contentType: "text/plain", body: [], requestID: "dev",
            headers: [("Location", url)])
        if let cookie { response.headers.append(("Set-Cookie", cookie)) }
        return response
    }

    /// The pages load only their own style and script, and can't be framed. There is no `form-action`: browsers apply
    /// it to the redirects after a form too, which lead to the relying party and wherever it goes on to.
    static func page(_ page: HTML, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "text/html; charset=utf-8", body: Array(page.text.utf8), requestID: "dev",
            headers: [
                (
                    "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
                ),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
            ])
    }
}

extension HTTPRequest {
    /// Whether the body is a form.
    var isForm: Bool {
        head.fields["Content-Type"]?.string.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
            // curl -d sends this content type for JSON too.
            && body.first != UInt8(ascii: "{")
    }

    /// The members of a JSON body; none if it is empty.
    ///
    /// - Throws: ``DevRequestError`` for anything else.
    func members() throws -> [String: JSONTree] {
        guard !body.isEmpty else { return [:] }
        guard let members = (try? JSONTree(readingObject: body))?.object else {
            throw DevRequestError("the body must be a JSON object such as {\"nonce\": \"...\", \"claims\": {}}")
        }
        return members
    }

    /// The fields of a form.
    ///
    /// - Throws: the error if the body is something else.
    func form(orThrow error: any Error = DevRequestError("the body must be a form")) throws -> FormParameters {
        guard isForm, let form = FormParameters(body) else { throw error }
        return form
    }
}

/// Why a script's request can't be used, and what is expected instead.
struct DevRequestError: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

extension [String: JSONTree] {
    /// A member that must be a string if it is there; `null` counts as absent.
    ///
    /// - Throws: ``DevRequestError``.
    func text(_ name: String) throws -> String? { try value(name, "a string", \.string) }

    func flag(_ name: String) throws -> Bool? { try value(name, "true or false", \.bool) }

    func number(_ name: String) throws -> Int64? { try value(name, "an integer", \.integer) }

    func object(_ name: String) throws -> [String: JSONTree]? { try value(name, "an object", \.object) }

    private func value<Read>(_ name: String, _ expected: String, _ read: (JSONTree) -> Read?) throws -> Read? {
        guard let tree = self[name], tree != .null else { return nil }
        guard let value = read(tree) else { throw DevRequestError("\(name) must be \(expected)") }
        return value
    }

    /// - Throws: ``DevRequestError`` if there is a member with another name.
    func checkNames(_ names: [String]) throws {
        guard let unknown = keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw DevRequestError("unknown member \(unknown); known members are \(names.joined(separator: ", "))")
    }
}

/// The parameters of a form or of a query, `application/x-www-form-urlencoded`.
struct FormParameters {
    private let values: [String: String]

    /// `nil` if the text can't be decoded, or repeats a parameter (RFC 6749, section 3.2).
    init?(_ text: some Sequence<UInt8>) {
        var values: [String: String] = [:]
        for pair in String(decoding: Array(text), as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : "") else {
                return nil
            }
            // Of several resources, the first is enough here.
            if name == "resource", values[name] != nil { continue }
            guard values.updateValue(value, forKey: name) == nil else { return nil }
        }
        self.values = values
    }

    /// A parameter; `nil` if it is absent or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The fields of a page as the members that a script would send.
    var members: [String: JSONTree] {
        var members = values.filter { !$0.value.isEmpty }.mapValues(JSONTree.string)
        if members["in_place"] != nil { members["in_place"] = .bool(true) }
        return members
    }

    /// The members of a request object: texts, and others as JSON.
    init(_ members: [String: JSONTree]) {
        values = members.mapValues { value in
            // Of several resources, the first is enough here.
            (value.array?.first ?? value).string ?? String(decoding: value.json, as: UTF8.self)
        }
    }

    /// All parameters, as strings.
    var texts: [String: JSONTree] { values.mapValues(JSONTree.string) }

    static func decode(_ text: some StringProtocol) -> String? {
        percentDecoded(String(text.map { $0 == "+" ? " " : $0 })).map { String(decoding: $0, as: UTF8.self) }
    }
}
