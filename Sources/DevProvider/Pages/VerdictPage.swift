private import JOSE
internal import JSON

/// The page with a decoded token and the service's verdict on it.
enum VerdictPage {
    /// A response of the service.
    struct Answer {
        let path: String
        /// `nil` if the service did not respond.
        let status: Int?
        let members: [String: JSONTree]

        init(_ answer: DevCalls.Answer?, _ path: String) {
            self.path = path
            status = answer?.status
            members = answer.flatMap { (try? JSONTree(readingObject: $0.body))?.object } ?? [:]
        }

        var isAccepted: Bool { status.map { (200...299).contains($0) } == true }
    }

    /// - Parameter token: `nil` if there is none to show.
    static func page(_ provider: String, token: String?, request: [String: JSONTree], _ answer: Answer) -> HTML {
        Layout.page(
            title: answer.isAccepted ? "Signed in" : "Refused", wide: true,
            """
            <h1>\(heading(answer))</h1>
            \(summary(answer))
            <div class="columns">
            \(token.map(decoded) ?? "")
            <section aria-labelledby="assay"><h2 id="assay">What Assay says</h2>
            <p><code>POST \(answer.path)</code>, \(answer.status.map { "status \($0)" } ?? "no answer")</p>
            <pre tabindex="0" role="region" aria-label="Assay's response">\(JSONTree.object(answer.members).indented)</pre>
            <details><summary>The request</summary>
            <pre tabindex="0" role="region" aria-label="Request">\(JSONTree.object(request).indented)</pre></details></section>
            </div>
            <p class="actions"><a class="button" href="/\(provider)/native">Another token</a>
            <a class="button quiet" href="/">All providers</a></p>
            """)
    }

    private static func heading(_ answer: Answer) -> HTML {
        guard answer.isAccepted else {
            return "<span class=\"bad\">Refused</span> \(answer.members["code"]?.string ?? "no answer")"
        }
        let identity = answer.members["identity"]?.object ?? [:]
        let name =
            identity["name"]?.string ?? identity["email"]?.string
            ?? answer.members["user"]?.object?["name"]?.string
        return "<span class=\"good\">Accepted</span> \(name ?? "")"
    }

    private static func summary(_ answer: Answer) -> HTML {
        guard answer.isAccepted else { return "<p>\(answer.members["detail"]?.string ?? "")</p>" }
        guard let identity = answer.members["identity"]?.object else { return "" }
        let rows: [HTML] = ["provider", "issuer", "subject", "name", "email", "email_trust", "tenant"].compactMap {
            name in
            guard let text = identity[name]?.string else { return nil }
            return "<dt>\(name)</dt><dd><code>\(text)</code></dd>"
        }
        return "<dl>\(rows)</dl>"
    }

    private static func decoded(_ token: String) -> HTML {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { part in
            Base64URL.decode(Array(part.utf8).span).flatMap { try? JSONTree(readingObject: $0) }?.indented ?? ""
        }
        return """
            <section aria-labelledby="token"><h2 id="token">The token</h2>
            <h3>Header</h3><pre tabindex="0" role="region" aria-label="Header">\(parts.first ?? "")</pre>
            <h3>Claims</h3><pre tabindex="0" role="region" aria-label="Claims">\(parts.dropFirst().first ?? "")</pre>
            <details><summary>As it was sent</summary><pre tabindex="0" role="region" aria-label="Token">\(token)</pre></details>
            </section>
            """
    }

    /// A backend's response to a notification.
    static func delivery(_ type: String, to url: String, _ answer: DevCalls.Answer?) -> HTML {
        let outcome = answer.map { "The backend answered \($0.status)." } ?? "Nothing answered at this URL."
        return Layout.page(
            title: "Notification",
            """
            <h1>\(type)</h1>
            <p>Sent to <code>\(url)</code>. \(outcome)</p>
            <p class="actions"><a class="button" href="/#notifications">Another one</a></p>
            """)
    }
}

extension JSONTree {
    /// The value as JSON text for people, with sorted members.
    fileprivate var indented: String { indented("") }

    private func indented(_ margin: String) -> String {
        switch self {
        case .object(let members) where !members.isEmpty:
            let lines = members.sorted { $0.key < $1.key }.map {
                "\(margin)  \(JSONTree.string($0.key).indented): \($0.value.indented(margin + "  "))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(margin)}"
        case .array(let elements) where !elements.isEmpty:
            return "[" + elements.map { $0.indented(margin + "  ") }.joined(separator: ", ") + "]"
        default: return String(decoding: json, as: UTF8.self)
        }
    }
}
