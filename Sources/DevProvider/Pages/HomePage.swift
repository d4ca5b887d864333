internal import HTTP
internal import IDToken
internal import NIOHTTP1

/// The home page: every provider, and the panel that controls their faults.
enum HomePage {
    /// - Parameter providers: those whose keys have been generated.
    static func page(
        _ settings: [DevProviderSettings], _ providers: EmulatedProviders, _ people: People
    ) -> Page {
        Page(
            title: "Providers", wide: true,
            """
            <h1>Providers</h1>
            <p>Each stands in for a provider in the settings: same client IDs, same rules, its own keys.
            Sign in, look at the token, then make something fail.</p>
            <div class="cards">\(settings.map { card($0, people) })</div>
            \(panel(settings, providers, people))
            \(notifications(settings, providers, people))
            """)
    }

    private static func card(_ entry: DevProviderSettings, _ people: People) -> HTML {
        // Its buttons lead to the first of many issuers.
        let (provider, path) = (entry.shown, entry.page)
        let many: [HTML] = [entry.issuers].compactMap(\.self).map {
            "<dt>Issuers</dt><dd>n is 1 to \(String($0.count))</dd>"
        }
        let hasBrowser = provider.clients.contains { !$0.redirectURIs.isEmpty } && provider.policy.issuesTokensOfSignIns
        let browser: HTML =
            hasBrowser && provider.accessTokens == nil
            ? "<a class=\"button\" href=\"/\(path)/browser\">Sign in with the browser</a>" : ""
        let native = provider.accessTokens == nil ? "Get an ID Token, as an app does" : "Get an access token"
        let audiences: [HTML] = provider.policy.audiences.map { "<dd><code>\($0)</code></dd>" }
        return """
            <section class="card" aria-labelledby="provider-\(entry.id)">
            <h2 id="provider-\(entry.id)">\(entry.id)</h2>
            <p class="aside">Stands in for: \(provider.summary)</p>
            <dl><dt>Issuer</dt><dd><code>\(provider.policy.issuer)</code></dd>
            <dt>\(provider.nameOfAudiences)s</dt>\(audiences)\(many)</dl>
            <p class="actions">\(browser)<a class="button quiet" href="/\(path)/native">\(native)</a></p>
            </section>
            """
    }

    private static func chooser(_ settings: [DevProviderSettings], all: Bool) -> HTML {
        let options: [HTML] = settings.map { "<option>\($0.id)</option>" }
        let every: HTML = all ? "<option value=\"\">all providers</option>" : ""
        return "<label>Provider <select name=\"provider\">\(every)\(options)</select></label>"
    }

    private static func options(_ people: People) -> [HTML] {
        people.all.map { "<option value=\"\($0.id)\">\($0.name ?? $0.id)</option>" }
    }

    // MARK: Faults

    private static func panel(
        _ settings: [DevProviderSettings], _ providers: EmulatedProviders, _ people: People
    ) -> HTML {
        let rows: [HTML] = Fault.allCases.map { fault in
            let active = providers.with(fault)
            let isOn: HTML =
                active.isEmpty ? "false" : settings.allSatisfy { active.contains($0.id) } ? "true" : "mixed"
            return """
                <tr><th scope="row">\(fault.title)</th><td>\(fault.consequence)</td><td>\(active.joined(separator: ", "))</td>
                <td><button name="fault" value="\(fault.rawValue)" class="quiet" aria-pressed="\(isOn)"
                aria-label="Switch on: \(fault.title)">On</button><button name="off" value="\(fault.rawValue)" class="quiet"
                aria-pressed="\(active.isEmpty ? "true" : "false")" aria-label="Switch off: \(fault.title)">Off</button></td></tr>
                """
        }
        return """
            <section aria-labelledby="faults"><h2 id="faults">Faults</h2>
            <form method="post" action="/faults">
            \(chooser(settings, all: true))
            <div class="scroll" tabindex="0" role="region" aria-label="Table of faults"><table>
            <thead><tr><th scope="col">What the provider does</th><th scope="col">What it causes</th>
            <th scope="col">On for</th><th scope="col">Switch</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>
            </form>
            <form method="post" action="/rotate">
            \(chooser(settings, all: true))
            <p class="actions"><button class="quiet">Rotate the keys</button>
            <button name="in_place" value="true" class="quiet">Rotate under the same kid</button></p>
            <p class="aside">After a rotation, Assay fetches the keys when the first token signed with the new key arrives, and refuses nothing.
            Under the same <code>kid</code>, tokens are <code>signature_invalid</code> until the next fetch.</p>
            </form>
            <form method="post" action="/people">
            \(chooser(settings, all: true))
            <label>Person <select name="revoke">\(options(people))</select></label>
            <p class="actions"><button class="quiet">Remove the app from their account</button></p>
            <p class="aside">Their codes and tokens stop working: the next refresh is <code>grant_invalid</code>.</p>
            </form>
            <form method="post" action="/reset"><p class="actions"><button class="quiet">Reset everything</button></p>
            <p class="aside">Ends all faults, and forgets people, codes and tokens. Keys stay.</p></form>
            </section>
            """
    }

    // MARK: Notifications

    private static func notifications(
        _ settings: [DevProviderSettings], _ providers: EmulatedProviders, _ people: People
    ) -> HTML {
        let forms: [HTML] = settings.compactMap { providers[$0.id] }.map { provider in
            let types: [HTML] = provider.notificationTypes.map { "<option>\($0)</option>" }
            return """
                <form method="post" action="/\(provider.settings.page)/notification" class="card">
                <h3>\(provider.id)</h3>
                <label>What happened <select name="type">\(types)</select></label>
                <label>To whom <select name="person">\(options(people))</select></label>
                <label>URL of the backend <input name="to" required inputmode="url"
                value="http://localhost:8000/notifications/\(provider.id)"></label>
                <p class="actions"><button class="quiet">Send</button></p>
                </form>
                """
        }
        return """
            <section aria-labelledby="notifications"><h2 id="notifications">Notifications</h2>
            <p>What a provider posts to your backend later. Assay verifies it: <code>POST /v1/notifications/verify</code>.</p>
            <div class="cards">\(forms)</div>
            </section>
            """
    }
}

extension DevResponder {
    func homePage() -> HTTPResponse { page(HomePage.page(settings, providers, people)) }

    /// A page with the layout of all, which names the faults that are on.
    func page(_ page: Page, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        let faults = Fault.allCases.map { fault in
            (fault: fault, providers: providers.with(fault))
        }
        return .page(Layout.html(page, faults: faults.filter { !$0.providers.isEmpty }), status)
    }
}
