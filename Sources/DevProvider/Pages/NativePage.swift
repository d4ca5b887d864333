internal import IDToken

/// The form that requests a token, as a native app's SDK or an API's client gets it.
enum NativePage {
    static func form(_ provider: EmulatedProvider, _ people: People) -> Page {
        let audiences: [HTML] = provider.audiences.map { "<option>\($0)</option>" }
        let isOfAPI = provider.settings.accessTokens != nil
        let nonce: HTML =
            provider.policy.nonce.isChecked && !isOfAPI
            ? """
            <label>Nonce <select name="nonce"><option value="right">that of the sign-in</option>
            <option value="another">that of another sign-in</option></select></label>
            """ : ""
        return Page(
            title: "A token from \(provider.id)",
            """
            <h1>A token from \(provider.id)</h1>
            <p>The provider \(provider.settings.hasOpaqueTokens ? "issues" : "signs") it, and Assay verifies it. You then see the token and the verdict.</p>
            <form method="post">
            <fieldset><legend>Whose token?</legend>\(Layout.choices(people, chosen: nil))</fieldset>
            <label>\(provider.settings.nameOfAudiences) <select name="audience">\(audiences)</select></label>
            \(nonce)\(isOfAPI ? binding : "")
            <label>Claims to replace <span class="aside">a JSON object; <code>null</code> removes a claim</span>
            <textarea name="claims" rows="3" spellcheck="false" placeholder='{"exp": 1}'></textarea></label>
            <p class="actions"><button>Get it and verify it</button></p>
            </form>
            """)
    }

    /// What an access token is bound to, and what its client does wrong.
    private static var binding: HTML {
        let faults: [HTML] = BindingFault.allCases.map { "<option value=\"\($0.rawValue)\">\($0.title)</option>" }
        return """
            <fieldset><legend>Whom is it good for?</legend>
            <label class="choice"><input type="radio" name="binding" value="none" checked>
            <span><strong>Anyone who has it</strong> <span class="aside">a bearer token</span></span></label>
            <label class="choice"><input type="radio" name="binding" value="key" id="bound-to-key">
            <span><strong>The owner of a key</strong> <span class="aside">a DPoP proof goes with each request</span></span></label>
            <label class="choice"><input type="radio" name="binding" value="certificate" id="bound-to-certificate">
            <span><strong>The owner of a certificate</strong> <span class="aside">that of the client's TLS connection</span></span></label>
            </fieldset>
            <fieldset class="of-key"><legend>The request to your API</legend>
            <label>Method <input name="method" value="GET" autocomplete="off"></label>
            <label>URL <input name="url" value="http://127.0.0.1:8000/orders" inputmode="url" autocomplete="off"></label>
            </fieldset>
            <label class="of-binding">What goes wrong <select name="fault"><option value="">nothing</option>\(faults)</select></label>
            """
    }
}
