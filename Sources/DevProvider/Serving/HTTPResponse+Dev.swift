internal import HTTPServer
internal import JSON
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
    /// - Throws: ``DevRequestError``.
    func form() throws -> FormParameters {
        guard isForm, let form = FormParameters(body) else { throw DevRequestError("the body must be a form") }
        return form
    }
}
