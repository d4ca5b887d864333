internal import HTTP
internal import IDToken
internal import Keys
private import NIOCore
internal import OAuth
private import OpenSSL
internal import Verification

/// Calls the endpoints of an operation's provider.
struct GrantCalls {
    private let operation: Operation
    private let grants: ProviderGrants
    private let client: CallingClient
    private let clientID: String
    /// The client of the settings; `nil` if the request names one.
    private let settings: OAuthClient?
    let policy: ProviderPolicy
    /// Why a UserInfo response with plain claims is refused; `nil` if it is not.
    private let plainUserInfo: UserInfoTokenFault?

    /// - Parameters:
    ///   - clientID: of the client that calls.
    ///   - authentication: the request's, for a provider with `issuers: any`.
    ///   - authenticates: whether a call needs the client's authentication.
    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)`` if the request's authentication is missing, or is not
    ///   one that the settings allow.
    init(
        of operation: Operation, to provider: Provider, by clientID: String, _ authentication: RequestAuthentication?,
        authenticates: Bool = true
    ) throws(Problem) {
        guard let grants = provider.grants else { throw .clientNotConfigured }
        self.operation = operation
        self.grants = grants
        self.clientID = clientID
        settings = grants.rules.client(clientID)
        policy = operation.policy(of: provider)
        plainUserInfo =
            provider.mustEncrypt(.userInfo) ? .notEncrypted : grants.rules.userInfo == .signed ? .notSigned : nil
        if let connection = operation.connection, let rules = grants.rules.named {
            let authentication = authenticates ? try rules.allowed(authentication) : .none
            self.client = .named(NamedClient(id: clientID, issuer: connection.issuer, authentication))
        } else {
            guard authentication == nil else { throw .clientNotNamed }
            client = .configured(clientID)
        }
    }

    private var hasCertificate: Bool { settings?.hasCertificate ?? false }

    /// Whether the client's tokens are bound to its certificate.
    private var isOfCertificate: Bool { settings?.senderConstraint == .certificate }

    /// Reserves one of the provider's `max_calls`.
    ///
    /// - Throws: ``Problem/callsFull``.
    func slot() throws(Problem) -> CallSlot {
        guard let slot = grants.slots.reserve(for: client.issuer) else { throw .callsFull }
        return slot
    }

    /// - Throws: ``Problem/endpointUnknown``.
    func tokenEndpoint() throws(Problem) -> FetchURL { try endpoint(.token, else: .endpointUnknown) }

    /// - Throws: ``Problem/endpointUnknown``, ``Problem/revocationNotSupported``.
    func revocationEndpoint() throws(Problem) -> FetchURL { try endpoint(.revocation, else: .revocationNotSupported) }

    /// - Returns: `nil` if UserInfo is not read.
    /// - Throws: ``Problem/endpointUnknown``, ``Problem/providerAnswerInvalid(_:)`` if the discovery document names none.
    func userInfoEndpoint() throws(Problem) -> FetchURL? {
        guard grants.rules.userInfo != nil else { return nil }
        return try endpoint(.userInfo, else: .providerAnswerInvalid(.noUserInfoEndpoint))
    }

    /// - Throws: ``Problem/endpointUnknown``, ``Problem/pushedRequestsNotSupported``.
    func pushedRequestEndpoint() throws(Problem) -> FetchURL {
        try endpoint(.pushedRequest, else: .pushedRequestsNotSupported)
    }

    /// - Parameter name: of an endpoint that Assay itself calls, not the browser.
    private func endpoint(_ name: EndpointName, else missing: Problem) throws(Problem) -> FetchURL {
        // A client may present a certificate only where it authenticates, or where its token is bound to it.
        let presents = name == .userInfo ? isOfCertificate : hasCertificate
        switch grants.endpoint(name, operation.discovered, presentingCertificate: presents) {
        case .known(let address): return address
        case .unknown: throw .endpointUnknown
        case .none: throw missing
        }
    }

    /// Signs an authorization request.
    func object(of request: PreparedRequest) async -> Result<[UInt8], RequestObjectFault> {
        let object = grants.calls.requestObject(
            request.objectParameters, of: request.client.id, by: client, signingKey: request.client.signingKey,
            for: request.issuer, now: request.madeAt)
        return (try? await object.get()) ?? .failure(.cryptographyUnavailable)
    }

    func push(
        _ request: PushedAuthorization, at address: FetchURL, _ slot: CallSlot
    ) async -> Result<PushedReference, CallFailure> {
        await operation.result(
            of: grants.calls.push(request, by: client, at: address, slot, until: operation.callDeadline))
    }

    /// A key for a grant whose sign-in has none; `nil` if grants of the client are not bound.
    ///
    /// - Throws: ``Problem/rejected(_:of:)`` if OpenSSL fails.
    func newProofKey() throws(Problem) -> ProofKey? {
        guard settings?.senderConstraint == .dpop else { return nil }
        return try openSSL(ProofKey.made())
    }

    /// What the backend keeps of a grant's key.
    ///
    /// - Throws: ``Problem/rejected(_:of:)`` if OpenSSL fails.
    func binding(to key: ProofKey, by signIns: LoopSignIns) throws(Problem) -> String {
        try openSSL(GrantBinding(provider: policy.id, audience: clientID, key: key).sealed(by: signIns.sealer))
    }

    /// The request to verify the ID Token of a grant that was not redeemed for a sign-in; `nil` if it has none.
    ///
    /// The nonce and `auth_time` of the user's sign-in are not known then, so they are not compared.
    ///
    /// - Parameters:
    ///   - subject: whom the grant must be of; `nil`: any user.
    ///   - code: that the grant was redeemed for; `nil` for a refresh.
    /// - Source: OpenID Connect Core 1.0, section 12.2, for a refresh.
    func verification(
        of grant: Grant, subject: ExpectedSubject?, code: String? = nil, includesClaims: Bool = false
    ) -> VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        var parameters = VerificationParameters(
            audience: clientID, accessToken: grant.accessTokenText, code: code, expectedSubject: subject)
        parameters.nonceUse = .ignoreFromTokenEndpoint
        parameters.isAccessTokenHashOptional = true
        parameters.isCodeHashOptional = true
        return VerifyRequest(
            ofSignIn: idToken[...], provider: policy.id, parameters: parameters, includesClaims: includesClaims,
            connection: operation.connection)
    }

    /// Whether a refresh leaves the refresh token as it is.
    var refreshTokensStay: Bool { grants.rules.quirks.contains(.refreshTokensStay) }

    /// Redeems a code or a refresh token: nothing else sends one. Notes that it is used up, unless nothing was sent; a
    /// refresh decides that anew.
    ///
    /// - Parameter proofKey: the key that the tokens are, or will be, bound to; `nil` for bearer tokens.
    func exchange(
        _ request: GrantRequest, provenBy proofKey: ProofKey?, at address: FetchURL, _ slot: CallSlot
    ) async throws(CallFailure) -> Grant {
        let result = await operation.result(
            of: grants.calls.exchange(
                request, by: client, provenBy: proofKey, at: address, slot, until: operation.callDeadline))
        operation.isSpent = if case .failure(.notSent) = result { false } else { true }
        operation.holdsGrant =
            switch result {
            case .success: true
            // The provider has issued tokens, but they are not bound to the key.
            case .failure(let failure): failure == .answerInvalid(.notBound)
            }
        return try result.get()
    }

    /// - Throws: the problem of a call that failed.
    func revoke(
        _ request: RevocationRequest, provenBy proofKey: ProofKey?, at address: FetchURL, _ slot: CallSlot
    ) async throws(Problem) {
        // A client that a request names says how it authenticates.
        let methods = client.issuer == nil ? grants.revocationMethods(operation.discovered) : nil
        let result = await operation.result(
            of: grants.calls.revoke(
                request, by: client, provenBy: proofKey, at: address, accepting: methods, slot,
                until: operation.callDeadline))
        if case .failure(let failure) = result { throw Problem(failure) }
    }

    /// Reads the claims of the user that an ID Token names, and verifies them if they are a JWT.
    ///
    /// - Returns: the claims, as JSON.
    /// - Throws: the problem if there are none.
    func userInfo(
        _ grant: Grant, provenBy proofKey: ProofKey?, of subject: String, at address: FetchURL, _ slot: CallSlot
    ) async throws(Problem) -> [UInt8] {
        let response = await operation.result(
            of: grants.calls.userInfo(
                UserInfoRequest(grant.accessToken, provenBy: proofKey, isOfCertificate: isOfCertificate), of: subject,
                refusingClaims: plainUserInfo, by: client, at: address, slot, until: operation.callDeadline))
        switch response {
        case .failure(let failure): throw Problem(failure)
        case .success(.claims(let claims)): return claims
        case .success(.token(let text)): return try await operation.userInfo(in: text, of: subject, clientID: clientID)
        }
    }
}
