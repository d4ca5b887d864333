/// The page of the end-session endpoint, where a person confirms that they sign out.
enum SignOutPage {
    static func page(_ request: EndSessionRequest, _ provider: EmulatedProvider) -> Page {
        let inputs: [HTML] = request.parameters.map {
            "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">"
        }
        let rows: [HTML] = [
            ("App", request.client?.id), ("Person", request.subject), ("Goes back to", request.redirectURI),
        ].compactMap { name, value in value.map { "<dt>\(name)</dt><dd><code>\($0)</code></dd>" } }
        return Page(
            title: "Sign out of \(provider.id)",
            """
            <h1>Sign out of \(provider.id)?</h1>
            <p class="aside">This page stands in for the provider: \(provider.settings.summary).</p>
            <dl>\(rows)</dl>
            <form method="post">\(inputs)
            <p class="actions"><button name="action" value="sign-out">Sign out</button></p></form>
            """)
    }

    static func signedOut(_ provider: EmulatedProvider) -> Page {
        Page(
            title: "Signed out of \(provider.id)",
            """
            <h1>Signed out of \(provider.id)</h1>
            <p>The request named no <code>post_logout_redirect_uri</code>, so the browser stays here.</p>
            """)
    }
}
