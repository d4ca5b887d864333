internal import JOSE

/// The page with a decoded token and the service's verdict on it.
enum VerdictPage {
    /// A response of the service.
    struct Answer {
        let path: String
        /// `nil` if the service did not respond.
        let status: Int?
        /// As the service wrote it: JSON.
        let body: [UInt8]
        let members: [String: JSONTree]

        init(_ answer: DevCalls.Answer?, _ path: String) {
            self.path = path
            status = answer?.status
            body = answer?.body ?? []
            members = answer.flatMap { (try? JSONTree(readingObject: $0.body))?.object } ?? [:]
        }

        var isAccepted: Bool { status.map { (200...299).contains($0) } == true }
    }

    /// Why a token was refused, in the words of `POST /v1/explain`.
    struct Cause {
        let explanation: String
        let fix: String?
        let expected: String?
        let found: String?

        init?(_ answer: DevCalls.Answer?) {
            guard let members = answer.flatMap({ (try? JSONTree(readingObject: $0.body))?.object }),
                let cause = members["likely_cause"]?.object, let explanation = cause["explanation"]?.string
            else { return nil }
            self.explanation = explanation
            fix = cause["fix"]?.string
            let check = members["checks"]?.array?.compactMap(\.object).first { $0["name"] == cause["check"] }
            expected = check?["expected"]?.string
            found = check?["found"]?.string
        }
    }

    /// - Parameters:
    ///   - token: `nil` if there is none to show.
    ///   - cause: `nil` if the service did not explain it.
    ///   - proof: what the request proves beside the token; empty: nothing.
    static func page(
        _ provider: String, token: String?, request: [String: JSONTree], _ answer: Answer, _ cause: Cause?,
        proof: HTML = ""
    ) -> Page {
        Page(
            title: answer.isAccepted ? "Signed in" : "Refused", wide: true,
            """
            <h1>\(heading(answer))</h1>
            \(summary(answer))
            \(cause.map(why) ?? "")
            <div class="columns">
            \(token.map(decoded) ?? "")
            <section aria-labelledby="assay"><h2 id="assay">What Assay says</h2>
            <p><code>POST \(answer.path)</code>, \(answer.status.map { "status \($0)" } ?? "no answer")</p>
            <pre tabindex="0" role="region" aria-label="Assay's response">\(IndentedJSON.text(answer.body))</pre>
            <details><summary>The request</summary>
            <pre tabindex="0" role="region" aria-label="Request">\(IndentedJSON.text(ordered(request)))</pre></details></section>
            </div>
            \(proof)
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
        let names = ["provider", "issuer", "subject", "name", "email", "email_trust", "tenant"]
        return "<dl>\(Layout.rows(names.map { ($0, identity[$0]?.string) }))</dl>"
    }

    private static func why(_ cause: Cause) -> HTML {
        """
        <section aria-labelledby="why" class="trouble"><h2 id="why">Why</h2>
        <p>\(cause.explanation)</p>
        <dl>\(Layout.rows([("Expected", cause.expected), ("Found", cause.found)]))</dl>
        <p>\(cause.fix ?? "")</p></section>
        """
    }

    /// A request's members in the order of the contract.
    private static let order = [
        "sign_in", "id_token", "token", "provider", "nonce", "code", "response", "redirect_uri", "certificate", "dpop",
    ]

    private static func ordered(_ request: [String: JSONTree]) -> [UInt8] {
        let names = order.filter { request[$0] != nil }
        let members = names.map { JSONTree.string($0).json + [UInt8(ascii: ":")] + (request[$0]?.json ?? []) }
        return [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }

    private static func decoded(_ token: String) -> HTML {
        guard token.utf8.contains(UInt8(ascii: ".")) else {
            return """
                <section aria-labelledby="token"><h2 id="token">The token</h2>
                <p>It is opaque: Assay asks its provider about it.</p>
                <pre tabindex="0" role="region" aria-label="Token">\(token)</pre></section>
                """
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { part in
            Base64URL.decode(Array(part.utf8).span).map { IndentedJSON.text($0) } ?? ""
        }
        let isEncrypted = parts.count == 5
        let claims: HTML =
            isEncrypted
            ? "<p>The rest is encrypted. Assay opens it with a key of <code>client_keys</code>.</p>"
            : "<h3>Claims</h3><pre tabindex=\"0\" role=\"region\" aria-label=\"Claims\">\(parts.dropFirst().first ?? "")</pre>"
        return """
            <section aria-labelledby="token"><h2 id="token">The token</h2>
            <h3>Header</h3><pre tabindex="0" role="region" aria-label="Header">\(parts.first ?? "")</pre>
            \(claims)
            <details><summary>As it was sent</summary><pre tabindex="0" role="region" aria-label="Token">\(token)</pre></details>
            </section>
            """
    }

    /// A button for the same request with a nonce in its proof.
    static func repeating(_ form: FormParameters, at provider: String, withNonce nonce: String) -> HTML {
        let names = ["person", "audience", "claims", "binding", "method", "url", "fault"]
        let inputs = Layout.hidden(names.map { ($0, form[$0] ?? "") } + [("proof_nonce", nonce)])
        return """
            <form method="post" action="/\(provider)/native">\(inputs)
            <p>The answer has a nonce for the client's next proof.</p>
            <p class="actions"><button class="quiet">Repeat with this nonce</button></p></form>
            """
    }

    /// A backend's response to a notification.
    static func delivery(_ type: String, to url: String, _ answer: DevCalls.Answer?) -> Page {
        let outcome = answer.map { "The backend answered \($0.status)." } ?? "Nothing answered at this URL."
        return Page(
            title: "Notification",
            """
            <h1>\(type)</h1>
            <p>Sent to <code>\(url)</code>. \(outcome)</p>
            <p class="actions"><a class="button" href="/#notifications">Another one</a></p>
            """)
    }
}

/// The part of a verdict's page about a DPoP proof: its contents, and what they are compared with.
struct ProofSection {
    /// The member `dpop` of the request to the service.
    let evidence: [String: JSONTree]
    let token: String
    /// The token's `jkt`.
    let boundKey: String
    /// The nonce in the service's answer, which the next proof must repeat; `nil`: proofs need none.
    let nextNonce: String?
    /// In Unix seconds, by the clock that the proof was made with.
    let now: Int64

    var html: HTML {
        guard let jws = evidence["proof"]?.string.flatMap({ try? CompactJWS($0) }),
            let header = Base64URL.decode(jws.headerText.span),
            let claims = (try? JSONTree(readingObject: jws.payload))?.object
        else { return "" }
        let table = checks(jws, claims).map(\.html)
        return """
            <section aria-labelledby="proof"><h2 id="proof">The DPoP proof</h2>
            <p>The client signs one for each request, with the key that its token is bound to.</p>
            <div class="scroll" tabindex="0" role="region" aria-label="What is checked"><table>
            <thead><tr><th scope="col">Member</th><th scope="col">In the proof</th><th scope="col">Must be</th></tr></thead>
            <tbody>\(table)</tbody></table></div>
            <details><summary>As JSON</summary>
            <pre tabindex="0" role="region" aria-label="Header of the proof">\(IndentedJSON.text(header))</pre>
            <pre tabindex="0" role="region" aria-label="Claims of the proof">\(IndentedJSON.text(jws.payload))</pre></details>
            </section>
            """
    }

    /// One member of a proof.
    private struct Check {
        let member: String
        let found: String
        let expected: String
        /// `nil`: only the service knows.
        var holds: Bool?

        var html: HTML {
            let mark: HTML =
                holds.map { $0 ? " <span class=\"good\">fits</span>" : " <span class=\"bad\">differs</span>" } ?? ""
            return
                "<tr><th scope=\"row\"><code>\(member)</code></th><td><code>\(found)</code>\(mark)</td><td>\(expected)</td></tr>"
        }
    }

    /// In the order in which the service checks them.
    ///
    /// - Source: RFC 9449, section 4.3.
    private func checks(_ jws: CompactJWS, _ claims: [String: JSONTree]) -> [Check] {
        let method = evidence["method"]?.string ?? ""
        let url = String((evidence["url"]?.string ?? "").prefix { $0 != "?" && $0 != "#" })
        let hash = (try? sha256(token)) ?? []
        let tokenHash = String(base64URL: hash)
        let (htm, htu) = (claims["htm"]?.string ?? "", claims["htu"]?.string ?? "")
        let ath = claims["ath"]?.string ?? ""
        let key = jws.embeddedKey?.thumbprint ?? ""
        let age = now - (claims["iat"]?.integer ?? 0)
        var checks = [
            Check(
                member: "typ", found: jws.header.type ?? "", expected: "dpop+jwt", holds: jws.header.type == "dpop+jwt"),
            Check(member: "alg", found: jws.header.algorithm?.rawValue ?? "", expected: "one of dpop.algorithms"),
            Check(member: "htm", found: htm, expected: "the request's method, \(method)", holds: htm == method),
            Check(
                member: "htu", found: htu, expected: "the request's URL without its query, \(url)", holds: htu == url),
            Check(member: "iat", found: "\(age) s ago", expected: "at most dpop.max_age ago"),
            Check(
                member: "ath", found: ath, expected: "the SHA-256 of the token, \(tokenHash)", holds: ath == tokenHash),
            Check(
                member: "jwk", found: key, expected: "the key in the token's cnf.jkt, \(boundKey)",
                holds: key == boundKey),
        ]
        if nextNonce != nil || claims["nonce"] != nil {
            let nonce = claims["nonce"]?.string ?? "none"
            checks.append(
                Check(member: "nonce", found: nonce, expected: "one that Assay made in the last five minutes"))
        }
        checks.append(
            Check(
                member: "jti", found: claims["jti"]?.string ?? "", expected: "new, unless the settings have replay: off"
            ))
        return checks
    }
}
