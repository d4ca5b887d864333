internal import IDToken
internal import OAuth
internal import Verification

/// An authorization request that is signed or pushed before there is a URL.
struct UnsentRequest {
    /// All but the client's ID and the response type.
    let parameters: AuthorizationParameters
    let way: Way
    let client: OAuthClient
    let endpoint: AuthorizationEndpoint
    /// The provider's.
    let issuer: String
    let madeAt: UnixTime

    /// How it reaches the provider.
    enum Way {
        case signed
        case pushed(isSigned: Bool)

        /// - Returns: `nil` for a plain request.
        init?(_ form: AuthorizationRequestForm) {
            switch form {
            case .plain: return nil
            case .signed: self = .signed
            case .pushed, .signedAndPushed: self = .pushed(isSigned: form.isSigned)
            }
        }
    }

    /// The parameters of a form in which the client authenticates, and which names it.
    var formParameters: AuthorizationParameters {
        var all = parameters
        all.add("response_type", .text(client.responseType.rawValue))
        return all
    }

    var objectParameters: AuthorizationParameters {
        var all = formParameters
        all.add("client_id", .text(client.id))
        return all
    }

    /// The URL of a request that was pushed (RFC 9126, section 4).
    fileprivate func url(_ reference: PushedReference) -> String {
        var url = URLWithQuery(endpoint.url)
        url.add("client_id", client.id)
        url.add("request_uri", reference.uri)
        return url.text
    }

    /// The URL of a signed request. OpenID Connect requires some parameters outside too, with the same values (Core 1.0,
    /// section 6.1).
    fileprivate func url(withObject object: [UInt8]) -> String {
        var url = URLWithQuery(endpoint.url)
        url.add("response_type", client.responseType.rawValue)
        url.add("client_id", client.id)
        url.add("scope", parameters.text("scope"))
        url.add("request", String(decoding: object, as: UTF8.self))
        return url.text
    }
}

/// An authorization request that the browser can take to the provider, until it expires.
struct SentRequest {
    let url: String
    let expiresAt: UnixTime
}

extension Operation {
    /// Signs an authorization request, pushes it, or both.
    ///
    /// - Parameter authentication: how the client of a connection authenticates.
    /// - Throws: ``Problem``. Nothing has begun then.
    func send(
        _ request: UnsentRequest, authenticatedBy authentication: RequestAuthentication?, to provider: Provider
    ) async throws(Problem) -> SentRequest {
        let objectEnd = request.madeAt.advanced(bySeconds: RequestObject.lifetimeSeconds)
        func calls(authenticates: Bool) throws(Problem) -> GrantCalls {
            try GrantCalls(
                of: self, to: provider, by: request.client.id, authentication, authenticates: authenticates)
        }
        switch request.way {
        case .signed:
            let object = try await signed(request, try calls(authenticates: false))
            return SentRequest(url: request.url(withObject: object), expiresAt: objectEnd)
        case .pushed(let isSigned):
            let calls = try calls(authenticates: true)
            // Before anything is signed.
            let (address, slot) = (try calls.pushedRequestEndpoint(), try calls.slot())
            let content: PushedAuthorization =
                isSigned
                ? .object(try await signed(request, calls), of: request.formParameters)
                : .parameters(request.formParameters)
            switch await calls.push(content, at: address, slot) {
            case .success(let reference):
                let end = request.madeAt.advanced(bySeconds: reference.lifetimeSeconds)
                return SentRequest(url: request.url(reference), expiresAt: isSigned ? min(end, objectEnd) : end)
            case .failure(let failure): throw Problem(failure)
            }
        }
    }

    /// - Throws: ``Problem/requestKeyMissing``, and ``Problem/rejected(_:of:)`` if OpenSSL fails.
    private func signed(_ request: UnsentRequest, _ calls: GrantCalls) async throws(Problem) -> [UInt8] {
        switch await calls.object(of: request) {
        case .success(let object): return object
        case .failure(.noKey): throw .requestKeyMissing
        case .failure(.cryptographyUnavailable): throw .rejected(.cryptographyUnavailable)
        }
    }
}

extension AuthorizationParameters: ParameterWriter {
    mutating func add(_ name: String, _ value: String?) { if let value { add(name, Value.text(value)) } }
    mutating func add(_ name: String, number: Int64?) { if let number { add(name, Value.number(number)) } }
    mutating func add(_ name: String, json: [UInt8]?) { if let json { add(name, Value.json(json)) } }
}
