internal import HTTP
internal import JOSE
internal import NIOCore
internal import NIOHTTP1

/// Requests whose response needs a call: to the service, or to a backend that receives notifications.
extension DevResponder {
    /// - Returns: `nil` for a request that needs none.
    /// - Throws: ``DevRequestError``, or ``OpenSSLError``.
    func later(_ request: HTTPRequest, _ path: String, _ id: String) throws -> HTTPReply? {
        switch (path, request.head.method) {
        case ("/notification", .post): return try notification(request, id)
        case ("/native", .post): return try native(request, id)
        case ("/browser", .get): return begin(request, id)
        case ("/callback", .get), ("/callback", .post): return finish(request, id)
        default: return nil
        }
    }

    /// Calls the service.
    private func asking(_ path: String, _ members: [String: JSONTree]) async -> VerdictPage.Answer {
        VerdictPage.Answer(await calls.service(path, JSONTree.object(members).json), path)
    }

    /// Has the service explain why it refused a token.
    ///
    /// - Returns: `nil` if it did not refuse, or does not explain it.
    private func explaining(
        _ answer: VerdictPage.Answer, _ members: [String: JSONTree]
    ) async -> VerdictPage.Cause? {
        if answer.isAccepted { return nil }
        return VerdictPage.Cause(await calls.explain(JSONTree.object(members).json))
    }

    // MARK: Notifications

    /// Creates a notification, and delivers it if the request names a destination.
    private func notification(_ request: HTTPRequest, _ id: String) throws -> HTTPReply? {
        guard let provider = providers[id] else { return nil }
        let isForm = request.isForm
        let members = try isForm ? request.form().members : request.members()
        try members.checkNames(["type", "claims", "person", "audience", "to"])
        guard let type = try members.text("type") else {
            throw DevRequestError(
                "the body must be a JSON object such as {\"type\": \"\(provider.notificationTypes[0])\", \"claims\": {}}"
            )
        }
        let made = try provider.notification(
            type, about: person(members["person"]), clientID: members.text("audience"),
            overriding: members.object("claims") ?? [:], id: randomName(),
            now: SystemClocks.unixSeconds() + provider.faults.clockOffset)
        let answer: [String: JSONTree] = [made.member: .string(made.token)]
        guard let url = try members.text("to") else { return .now(.json(.object(answer))) }
        guard calls.deliversAnywhere || HostName(ofURL: url)?.isOfDevelopment == true else {
            throw DevRequestError("to must be a URL on this machine, or one whose host ends in .test")
        }
        return .later { [self] in
            let delivered = await calls.deliver(url, made.contentType, made.body)
            guard !isForm else { return page(VerdictPage.delivery(type, to: url, delivered)) }
            let status: JSONTree = delivered.map { .integer(Int64($0.status)) } ?? .null
            return .json(.object(answer.merging(["delivered": status]) { $1 }))
        }
    }

    // MARK: A sign-in of an app

    /// Signs a token as an app's SDK gets it, and shows it next to the service's verdict.
    private func native(_ request: HTTPRequest, _ id: String) throws -> HTTPReply? {
        guard var provider = providers[id] else { return nil }
        let form = try request.form()
        var claims: [String: JSONTree] = [:]
        if let text = form["claims"] {
            guard let members = (try? JSONTree(readingObject: Array(text.utf8)))?.object else {
                throw DevRequestError("claims must be a JSON object, such as {\"exp\": 1}")
            }
            claims = members
        }
        var minting = Minting(
            person: try person(form["person"].map(JSONTree.string)),
            clientID: try clientID(form["audience"], provider), nonce: try randomName(), claims: claims)
        let fault = provider.settings.accessTokens == nil ? nil : form["fault"].flatMap(BindingFault.init)
        switch form["binding"] {
        case "key":
            guard let url = form["url"] else { throw DevRequestError("url is missing: what the client calls") }
            minting.proving = DevProofRequest(
                method: form["method"] ?? "GET", url: url, nonce: form["proof_nonce"], fault)
        case "certificate": minting.certificate = try .madeUp()
        default: break
        }
        let now = SystemClocks.unixSeconds() + provider.faults.clockOffset
        let minted = try mint(minting, &provider, now: now)
        var members = minted.members
        providers[id] = provider
        let token = (members["id_token"] ?? members["token"])?.string ?? ""
        if form["nonce"] == "another", members["nonce"] != nil { members["nonce"] = .string(try randomName()) }
        let path = members["token"] == nil ? "/v1/verify" : "/v1/access-tokens/verify"
        members.merge(provider.settings.requestMembers) { $1 }
        let evidence = members["dpop"]?.object
        switch fault {
        case .missing: (members["dpop"], members["certificate"]) = (nil, nil)
        case .otherCertificate where minting.certificate != nil:
            members["certificate"] = .string(try DevCertificate.madeUp().text)
        default: break
        }
        return .later { [self, members] in
            if fault == .repeated { _ = await asking(path, members) }
            let answer = await asking(path, members)
            let cause = await explaining(answer, members)
            let nextNonce = answer.members["dpop_nonce"]?.string
            let proof = evidence.map { evidence in
                ProofSection(
                    evidence: evidence, token: token, boundKey: minted.confirmation["jkt"]?.string ?? "",
                    nextNonce: nextNonce, now: now)
            }
            let again: HTML = nextNonce.map { VerdictPage.repeating(form, at: id, withNonce: $0) } ?? ""
            let shown: HTML = "\(proof?.html ?? "")\(proof == nil ? "" : again)"
            return page(VerdictPage.page(id, token: token, request: members, answer, cause, proof: shown))
        }
    }

    // MARK: A sign-in in the browser

    /// The name of the cookie that holds the sign-in.
    private static let cookie = "sign_in"

    /// Begins a sign-in at the service, as a backend would, and sends the browser to the provider.
    private func begin(_ request: HTTPRequest, _ id: String) -> HTTPReply? {
        // The cookie must belong to the host that receives the provider's response.
        if let host = request.head.fields["Host"]?.string, "http://" + host != origin {
            return .now(.redirect("\(origin)/\(id)/browser"))
        }
        var members = providers[id]?.settings.requestMembers ?? [:]
        members["redirect_uri"] = .string(DevProviderServer.callback(of: id, at: origin))
        return .later { [self, members] in
            let answer = await asking("/v1/sign-ins", members)
            guard let signIn = answer.members["sign_in"]?.string,
                let url = answer.members["authorization_url"]?.string
            else { return page(VerdictPage.page(id, token: nil, request: members, answer, nil)) }
            let cookie = "\(Self.cookie)=\(signIn); Path=/\(id)/callback; HttpOnly; SameSite=Lax; Max-Age=600"
            return .redirect(url, settingCookie: cookie)
        }
    }

    /// Finishes the sign-in with the provider's response.
    private func finish(_ request: HTTPRequest, _ id: String) -> HTTPReply? {
        let parameters =
            request.head.method == .post ? FormParameters(request.body) : FormParameters(request.head.query.bytes)
        let cookies = request.head.fields["Cookie"]?.string.split(separator: ";") ?? []
        let signIn = cookies.map { $0.drop { $0 == " " } }.first { $0.hasPrefix(Self.cookie + "=") }?
            .dropFirst(Self.cookie.utf8.count + 1)
        var members = providers[id]?.settings.finishMembers ?? [:]
        members["sign_in"] = .string(signIn.map(String.init) ?? "")
        members["response"] = .object(parameters?.texts ?? [:])
        members["redirect_uri"] = .string(DevProviderServer.callback(of: id, at: origin))
        return .later { [self, members] in
            let answer = await asking("/v1/sign-ins/finish", members)
            let token = answer.members["grant"]?.object?["id_token"]?.string
            return page(VerdictPage.page(id, token: token, request: members, answer, nil))
        }
    }
}
