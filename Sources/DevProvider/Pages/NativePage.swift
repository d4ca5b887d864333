internal import IDToken

/// The form that requests a token as a native app's SDK gets it.
enum NativePage {
    static func form(_ provider: EmulatedProvider, _ people: People) -> Page {
        let audiences: [HTML] = provider.audiences.map { "<option>\($0)</option>" }
        let nonce: HTML =
            provider.policy.nonce.isChecked && provider.settings.accessTokens == nil
            ? """
            <label>Nonce <select name="nonce"><option value="right">that of the sign-in</option>
            <option value="another">that of another sign-in</option></select></label>
            """ : ""
        return Page(
            title: "A token from \(provider.id)",
            """
            <h1>A token from \(provider.id)</h1>
            <p>The provider signs it, and Assay verifies it. You then see the token and the verdict.</p>
            <form method="post">
            <fieldset><legend>Whose token?</legend>\(Layout.choices(people, chosen: nil))</fieldset>
            <label>\(provider.settings.nameOfAudiences) <select name="audience">\(audiences)</select></label>
            \(nonce)
            <label>Claims to replace <span class="aside">a JSON object; <code>null</code> removes a claim</span>
            <textarea name="claims" rows="3" spellcheck="false" placeholder='{"exp": 1}'></textarea></label>
            <p class="actions"><button>Get it and verify it</button></p>
            </form>
            """)
    }
}
