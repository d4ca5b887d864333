internal import IDToken

/// The page of the authorization endpoint, where a person signs in or cancels.
enum SignInPage {
    static func page(_ request: AuthorizationRequest, _ provider: EmulatedProvider, _ people: People) -> Page {
        let chosen = request.loginHint.flatMap(people.named)
        let scopes = request.scopes.isEmpty ? "nothing but an identifier" : request.scopes.joined(separator: ", ")
        return Page(
            title: "Sign in with \(provider.id)",
            """
            <h1>Sign in with \(provider.id)</h1>
            <p class="aside">This page stands in for the provider: \(provider.settings.summary).</p>
            <dl><dt>App</dt><dd><code>\(request.client.id)</code></dd>
            <dt>Asks for</dt><dd>\(scopes)</dd>
            <dt>Goes back to</dt><dd><code>\(request.redirectURI)</code></dd></dl>
            <form method="post">
            <fieldset><legend>Who signs in?</legend>
            \(Layout.choices(people, chosen: chosen?.id))
            <label class="choice"><input type="radio" name="person" value="+" id="somebody">
            <span><strong>Somebody else</strong> <span class="aside">described below</span></span></label>
            </fieldset>
            \(address(provider, chosen ?? people.usual))
            \(newPerson(provider))
            <p class="actions"><button name="action" value="sign-in">Sign in</button>
            <button name="action" value="cancel" class="quiet">Cancel</button></p>
            </form>
            """)
    }

    /// The choice that Apple offers at the first sign-in to an app: to hide or share the email address.
    private static func address(_ provider: EmulatedProvider, _ person: Person) -> HTML {
        guard let relay = provider.policy.email.privateDomains.first else { return "" }
        let (hidden, shown): (HTML, HTML) = person.hidesEmail ? (" checked", "") : ("", " checked")
        return """
            <fieldset><legend>Address</legend>
            <label class="choice"><input type="radio" name="address" value="hidden"\(hidden)>
            <span><strong>Hide it</strong> <span class="aside">the app gets one at \(relay)</span></span></label>
            <label class="choice"><input type="radio" name="address" value="shown"\(shown)>
            <span><strong>Share it</strong></span></label>
            </fieldset>
            """
    }

    private static func newPerson(_ provider: EmulatedProvider) -> HTML {
        let policy = provider.policy
        let realUser: HTML =
            policy.reportsRealUserStatus
            ? """
            <label>Real user status <select name="real_user_status"><option value="2">2: likely real</option>
            <option value="1">1: unknown</option><option value="0">0: unsupported</option></select></label>
            """ : ""
        let hasTenant = policy.issuerTemplates != nil || policy.identityClaims[.tenant] != nil
        let tenant: HTML = hasTenant ? "<label>Tenant <input name=\"tenant\" autocomplete=\"off\"></label>" : ""
        let groups: HTML =
            provider.dialect.sendsUserOnce
            ? "" : "<label>Groups <input name=\"groups\" autocomplete=\"off\" placeholder=\"staff, admins\"></label>"
        return """
            <fieldset class="new"><legend>Somebody else</legend>
            <label>Name <input name="name" autocomplete="off"></label>
            <label>Email address <input name="email" inputmode="email" autocomplete="off"></label>
            <label class="choice"><input type="checkbox" name="email_verified" value="true" checked>
            <span>The address is verified</span></label>
            \(realUser)\(tenant)\(groups)
            </fieldset>
            """
    }

    /// The parameters as a form that submits itself.
    static func formPost(to url: String, _ parameters: [(name: String, value: String)]) -> Page {
        Page(
            title: "Signing in", hasScript: true,
            """
            <h1>Signing in</h1>
            <form method="post" action="\(url)" id="submit">\(Layout.hidden(parameters))
            <p class="actions"><button>Continue</button></p></form>
            """)
    }

    /// Why the request was refused. In this case, a provider sends nothing to the redirect URI.
    static func refusal(_ reason: String, _ provider: EmulatedProvider) -> Page {
        Page(
            title: "Refused by \(provider.id)",
            """
            <h1>The request was refused</h1>
            <p class="trouble">\(reason)</p>
            <p>A provider shows an error here, and sends nothing back to the app.</p>
            """)
    }
}

/// The page of the end-session endpoint, where a person confirms that they sign out.
enum SignOutPage {
    static func page(_ request: EndSessionRequest, _ provider: EmulatedProvider) -> Page {
        let rows = Layout.rows([
            ("App", request.client?.id), ("Person", request.subject), ("Goes back to", request.redirectURI),
        ])
        return Page(
            title: "Sign out of \(provider.id)",
            """
            <h1>Sign out of \(provider.id)?</h1>
            <p class="aside">This page stands in for the provider: \(provider.settings.summary).</p>
            <dl>\(rows)</dl>
            <form method="post">\(Layout.hidden(request.parameters))
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

    /// The choices of a key for the access token, and of a mistake for its client to make.
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
