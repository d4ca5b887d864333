internal import JOSE
private import OpenSSL

/// The part of a verdict's page about a DPoP proof: its contents, and what they are compared with.
struct ProofSection {
    /// The member `dpop` of the request to the service.
    let evidence: [String: JSONTree]
    let token: String
    /// The token's `jkt`.
    let boundKey: String
    /// What the proof must repeat, as the service's answer has it; `nil`: proofs need no nonce.
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
        let hash = try? DigestContext().digest(Array(token.utf8).span, with: .sha256)
        let tokenHash = hash.map { String(decoding: Base64URL.encode($0), as: UTF8.self) } ?? ""
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
