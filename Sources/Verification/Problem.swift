package import Grants
package import IDToken
package import JSON

/// Why a request failed (RFC 9457). Lists every code of the contract.
package enum Problem: Error, Equatable, Sendable {
    /// The text says what was expected. It is fixed, and repeats nothing from the request except a number, the name of
    /// an unknown member (see ``JSONObject/redactedName(_:)``), or the position of a JSON error.
    case requestInvalid(String)
    case notFound
    /// The path names a policy of `forward_auth` that does not exist.
    case policyUnknown
    /// Like `notFound`, on the admin listener, which has other paths.
    case notFoundByAdmin
    /// A path of the console while the console is disabled.
    case consoleOff
    case methodNotAllowed(allow: String)
    case requestTimeout
    case requestTooLarge
    case headersTooLarge
    case contentTypeUnsupported
    case callerUnauthenticated
    case providerUnknown
    /// Like `providerUnknown`: the provider or issuer is known, but its entry verifies the other kind of token.
    case providerOfAccessTokens
    case providerOfIDTokens
    case audienceNotConfigured
    case clientNotConfigured
    case redirectURINotConfigured
    case signInNotSupported
    case revocationNotSupported
    case notificationsNotConfigured
    case signInInvalid
    case signInExpired
    case signInReplayed
    case nonceReplayed
    case stateMismatch
    case redirectURIMismatch
    case responseIssuerMismatch
    /// - Parameter context: the backend's own data, such as the page to which the user should return.
    case signInDenied(context: String?)
    /// The provider ended the sign-in in the browser with another error.
    case signInRefused(OAuthErrorName, context: String?)
    /// - Parameter isSpent: whether the sign-in or nonce may have been used up, because the outcome of its claim is
    ///   unknown.
    case storeUnavailable(isSpent: Bool)
    case rejected(Rejection)
    /// Like `rejected`, for a notification.
    case notificationRejected(Rejection)
    /// Like `rejected`, for an access token.
    case accessTokenRejected(Rejection)
    /// The code or token can't be used.
    case grantInvalid(OAuthErrorName)
    /// The provider refuses the client's credentials.
    case clientRejected(OAuthErrorName)
    case providerRefused(OAuthErrorName)
    case providerAnswerInvalid
    /// - Parameter limit: the setting whose limit was reached, if that is the reason.
    case providerUnavailable(retryAfterSeconds: Int64, limit: String? = nil)
    case keysUnavailable(retryAfterSeconds: Int64)
    /// - Parameter limit: the setting whose limit was reached, such as `limits.max_in_flight`.
    case overloaded(limit: String)
    case shuttingDown

    /// Stable: clients may depend on it.
    package var code: String {
        switch self {
        case .requestInvalid: "request_invalid"
        case .notFound, .policyUnknown, .notFoundByAdmin, .consoleOff: "not_found"
        case .methodNotAllowed: "method_not_allowed"
        case .requestTimeout: "request_timeout"
        case .requestTooLarge: "request_too_large"
        case .headersTooLarge: "headers_too_large"
        case .contentTypeUnsupported: "content_type_unsupported"
        case .callerUnauthenticated: "caller_unauthenticated"
        case .providerUnknown, .providerOfAccessTokens, .providerOfIDTokens: "provider_unknown"
        case .audienceNotConfigured: "audience_not_configured"
        case .clientNotConfigured: "client_not_configured"
        case .redirectURINotConfigured: "redirect_uri_not_configured"
        case .signInNotSupported: "sign_in_not_supported"
        case .revocationNotSupported: "revocation_not_supported"
        case .notificationsNotConfigured: "notifications_not_configured"
        case .signInInvalid: "sign_in_invalid"
        case .signInExpired: "sign_in_expired"
        case .signInReplayed: "sign_in_replayed"
        case .nonceReplayed: "nonce_replayed"
        case .stateMismatch: "state_mismatch"
        case .redirectURIMismatch: "redirect_uri_mismatch"
        case .responseIssuerMismatch: "response_issuer_mismatch"
        case .signInDenied: "sign_in_denied"
        case .storeUnavailable: "store_unavailable"
        case .rejected(let rejection), .notificationRejected(let rejection), .accessTokenRejected(let rejection):
            rejection.code.rawValue
        case .grantInvalid: "grant_invalid"
        case .clientRejected: "client_rejected"
        case .signInRefused, .providerRefused: "provider_refused"
        case .providerAnswerInvalid: "provider_answer_invalid"
        case .providerUnavailable: "provider_unavailable"
        case .keysUnavailable: "keys_unavailable"
        case .overloaded: Self.overloadedCode
        case .shuttingDown: "shutting_down"
        }
    }

    /// The HTTP status code (RFC 9457, 3.1.2).
    package var status: Int {
        switch self {
        case .requestInvalid, .audienceNotConfigured, .clientNotConfigured, .signInNotSupported,
            .notificationsNotConfigured, .redirectURINotConfigured, .revocationNotSupported:
            400
        case .callerUnauthenticated: 401
        case .notFound, .policyUnknown, .notFoundByAdmin, .consoleOff, .providerUnknown, .providerOfAccessTokens,
            .providerOfIDTokens:
            404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .requestTooLarge: 413
        case .contentTypeUnsupported: 415
        case .rejected(.cryptographyUnavailable), .notificationRejected(.cryptographyUnavailable),
            .accessTokenRejected(.cryptographyUnavailable):
            500
        case .rejected, .notificationRejected, .accessTokenRejected: 422
        case .signInInvalid, .signInExpired, .signInReplayed, .nonceReplayed: 422
        case .stateMismatch, .redirectURIMismatch, .responseIssuerMismatch, .signInDenied, .signInRefused,
            .grantInvalid, .providerRefused:
            422
        case .headersTooLarge: 431
        case .clientRejected, .providerAnswerInvalid: 502
        case .providerUnavailable: 503
        case .keysUnavailable, .storeUnavailable, .overloaded, .shuttingDown: 503
        }
    }

    /// A few words, the same for every occurrence.
    package var title: String {
        switch self {
        case .requestInvalid: "Invalid request"
        case .notFound, .policyUnknown, .notFoundByAdmin, .consoleOff: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .requestTimeout: "Request timed out"
        case .requestTooLarge: "Request too large"
        case .headersTooLarge: "Header fields too large"
        case .contentTypeUnsupported: "Unsupported content type"
        case .callerUnauthenticated: "Caller not authenticated"
        case .providerUnknown, .providerOfAccessTokens, .providerOfIDTokens: "Unknown provider"
        case .audienceNotConfigured: "Audience not configured"
        case .clientNotConfigured: "Client not configured"
        case .redirectURINotConfigured: "Redirect URI not configured"
        case .signInNotSupported: "Sign-in not supported"
        case .revocationNotSupported: "Revocation not supported"
        case .notificationsNotConfigured: "Notifications not configured"
        case .signInInvalid: "Invalid sign-in"
        case .signInExpired: "Sign-in expired"
        case .signInReplayed: "Sign-in already finished"
        case .nonceReplayed: "Nonce replayed"
        case .stateMismatch: "State mismatch"
        case .redirectURIMismatch: "Redirect URI mismatch"
        case .responseIssuerMismatch: "Response issuer mismatch"
        case .signInDenied: "Sign-in denied"
        case .storeUnavailable: "Store unavailable"
        case .rejected(let rejection), .notificationRejected(let rejection), .accessTokenRejected(let rejection):
            rejection.title
        case .grantInvalid: "Grant invalid"
        case .clientRejected: "Client rejected"
        case .signInRefused, .providerRefused: "Refused by the provider"
        case .providerAnswerInvalid: "Invalid provider response"
        case .providerUnavailable: "Provider unavailable"
        case .keysUnavailable: "Keys unavailable"
        case .overloaded: "Overloaded"
        case .shuttingDown: "Shutting down"
        }
    }

    /// Human-readable: what was found or expected, and what to do.
    package var detail: String {
        switch self {
        case .requestInvalid(let text): text
        case .notFound:
            "This listener has no such path; /openapi.yaml lists the paths, and /v1/sign-ins needs sign_ins in the settings."
        case .policyUnknown:
            "No policy of forward_auth has the id in the path, byte for byte; correct the gateway's path, or add the policy."
        case .notFoundByAdmin:
            "The admin listener has no such path; it has /livez, /readyz, /metrics, /v1/providers, "
                + "/v1/providers/{id}/refresh, /v1/explain, /v1/events and /v1/verdicts; tokens are verified on the service listener."
        case .consoleOff: "The console is off on this listener; set admin.console to true to turn it on."
        case .methodNotAllowed: "This path does not support this method; use one of those in the Allow header."
        case .requestTimeout:
            "The whole request did not arrive within limits.request_timeout; send it without pauses, or raise the limit."
        case .requestTooLarge:
            "The body exceeds limits.max_body (or limits.max_batch_body); send less, or raise the limit."
        case .headersTooLarge: "The header fields exceed limits.max_header; send fewer or shorter ones."
        case .contentTypeUnsupported:
            "The Content-Type is not application/json, or the body is compressed; send uncompressed JSON."
        case .callerUnauthenticated:
            "The API key is missing or wrong; send a valid key as Authorization: Bearer <key>."
        case .providerUnknown:
            "No configured provider has this id or this issuer; correct the request, or add the provider to the settings."
        case .providerOfAccessTokens:
            "The provider with this id or issuer verifies access tokens, not ID Tokens; send access tokens to /v1/access-tokens/verify, or add a provider without tokens: access."
        case .providerOfIDTokens:
            "The provider with this id or issuer verifies ID Tokens, not access tokens; send ID Tokens to /v1/verify, or add a provider with tokens: access."
        case .audienceNotConfigured:
            "The request's audience is not one of the provider's audiences; correct the request, or add the audience to the provider."
        case .clientNotConfigured:
            "This audience has no client in the settings, but codes, redirect URIs and refresh tokens need one; add one to the provider's clients."
        case .redirectURINotConfigured:
            "The client does not list this redirect_uri, byte for byte; correct it, or add it to the client's redirect_uris."
        case .revocationNotSupported:
            "The provider has no revocation endpoint; delete the tokens, and let them expire."
        case .signInNotSupported:
            "A sign-in of this kind can't begin with this provider: nothing would tie the token to it, the provider issues no tokens for such sign-ins, or it has no audiences; call /v1/verify instead."
        case .notificationsNotConfigured:
            "This provider accepts no notifications; list the kinds that it sends under its setting notifications."
        case .signInInvalid:
            "sign_in was not made by this installation, was changed, or names a provider, audience or redirect URI that was removed; begin a new sign-in."
        case .signInExpired: "The sign-in took longer than its expires_in; begin a new one."
        case .signInReplayed: "The sign-in was finished before, and can be finished only once; begin a new one."
        case .stateMismatch:
            "The response's state is not this sign-in's, so it belongs to another browser or tab; begin a new sign-in."
        case .redirectURIMismatch:
            "The response arrived at an address other than the redirect_uri that this sign-in began with; begin a new sign-in."
        case .responseIssuerMismatch:
            "The response's iss is missing or not this provider's issuer, so another provider may have sent it; begin a new sign-in."
        case .signInDenied: "The user cancelled the sign-in; offer to begin a new one."
        case .nonceReplayed:
            "A token with this nonce was verified before, and a nonce can be used only once; begin a new sign-in."
        case .storeUnavailable(isSpent: false):
            "The sign-in store is full or unreachable, and nothing was used up; try again."
        case .storeUnavailable(isSpent: true):
            "The sign-in store did not confirm in time, so the sign-in or nonce may be used up; begin a new sign-in."
        case .rejected(let rejection): rejection.detail
        case .notificationRejected(let rejection): rejection.notificationDetail
        case .accessTokenRejected(let rejection): rejection.accessTokenDetail
        case .grantInvalid:
            "The provider says that the code or token has expired, was used or revoked, or belongs to another client; have the user sign in again."
        case .clientRejected:
            "The provider refuses the client's credentials, or its redirect URI; correct the client in the settings."
        case .signInRefused, .providerRefused:
            "The provider refused the request; see provider_error, and correct the request or the client's settings at the provider."
        case .providerAnswerInvalid:
            "The provider's response does not conform to the protocol; see the log, and try again later unless spent is true."
        case .providerUnavailable(_, nil):
            "The provider can't be reached, or can't respond now; try again, unless spent is true."
        case .providerUnavailable(_, let limit?):
            "This instance has reached \(limit): too many calls to the provider are in flight; try again."
        case .keysUnavailable:
            "The provider's keys can't be fetched now, so the token can't be verified; try again later."
        case .overloaded(let limit):
            "This instance has reached \(limit); try again later."
        case .shuttingDown: "This instance is stopping; send the request to another one, or again after the restart."
        }
    }

    /// The claim that caused the rejection. The name is known from the code or the settings.
    var claim: String? {
        switch self {
        case .rejected(let rejection), .notificationRejected(let rejection), .accessTokenRejected(let rejection):
            rejection.claim?.string
        default: nil
        }
    }

    /// Whether the sign-in or nonce has been used up, or may have been, so that it must not be sent again.
    package var isSpent: Bool {
        switch self {
        case .signInReplayed, .nonceReplayed, .storeUnavailable(isSpent: true): true
        default: false
        }
    }

    /// The setting whose limit was reached, if any.
    package var limit: String? {
        switch self {
        case .overloaded(let limit): limit
        case .providerUnavailable(_, let limit): limit
        default: nil
        }
    }

    /// The registered name of the provider's error, if that is the reason.
    private var providerError: OAuthErrorName? {
        switch self {
        case .grantInvalid(let name), .clientRejected(let name), .providerRefused(let name),
            .signInRefused(let name, _):
            name
        default: nil
        }
    }

    /// The sign-in's context, if the provider ended the sign-in in the browser. Not to be logged.
    private var context: String?? {
        switch self {
        case .signInDenied(let context), .signInRefused(_, let context): .some(context)
        default: nil
        }
    }

    /// The code of ``overloaded(limit:)``, whatever the limit.
    package static let overloadedCode = "overloaded"

    /// Writes the problem as a JSON object.
    ///
    /// - Parameter spent: whether this call used something up, or may have; `nil` for calls that never do.
    package func write(to json: inout JSONWriter, requestID: String, spent: Bool? = nil) {
        json.beginObject()
        json.member("type", "urn:assay:problem:" + code)
        json.member("title", title)
        json.member("status", Int64(status))
        json.member("detail", detail)
        json.member("code", code)
        if let claim {
            json.member("claim", claim)
        }
        if let providerError {
            json.member("provider_error", providerError.rawValue)
        }
        if let context {
            json.member("context", context)
        }
        if let spent {
            json.member("spent", spent)
        }
        json.member("request_id", requestID)
        json.endObject()
    }
}

extension Rejection {
    fileprivate var title: String {
        switch self {
        case .tokenMalformed: "Malformed token"
        case .headerUnsupported: "Unsupported token header"
        case .algorithmNotAllowed: "Algorithm not allowed"
        case .keyNotFound: "Key not found"
        case .keyUnsuitable: "Key unsuitable"
        case .signatureInvalid: "Invalid signature"
        case .issuerMismatch: "Issuer mismatch"
        case .audienceMismatch: "Audience mismatch"
        case .authorizedPartyMismatch: "Authorized party mismatch"
        case .tokenExpired: "Token expired"
        case .tokenNotYetValid: "Token not yet valid"
        case .tokenTooOld: "Token too old"
        case .authTimeTooOld: "Authentication too old"
        case .claimMissing: "Claim missing"
        case .claimInvalid: "Claim invalid"
        case .nonceRequired: "Nonce required"
        case .nonceMissing: "Nonce missing"
        case .nonceMismatch: "Nonce mismatch"
        case .atHashMissing: "Access token hash missing"
        case .atHashMismatch: "Access token hash mismatch"
        case .cHashMissing: "Code hash missing"
        case .cHashMismatch: "Code hash mismatch"
        case .sessionRevoked: "Session revoked"
        case .subjectMismatch: "Subject mismatch"
        case .scopeMissing: "Scope missing"
        case .cryptographyUnavailable: "Internal error"
        }
    }

    fileprivate var detail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The token is longer than \(UnverifiedToken.maximumLength) bytes; send only the id_token."
        case .tokenMalformed(.encrypted):
            "The token has five parts: it is encrypted (JWE); ask the provider for signed ID Tokens."
        case .tokenMalformed(.serialization):
            "The token is not three parts of base64url separated by dots; send it exactly as the provider issued it."
        case .tokenMalformed(.header):
            "The token's header is not unpadded base64url of one JSON object; send the token exactly as the provider issued it."
        case .tokenMalformed(.payload):
            "The token's payload is not unpadded base64url of one JSON object; send the token exactly as the provider issued it."
        case .tokenMalformed(.signature):
            "The token's signature is not unpadded base64url; send the token exactly as the provider issued it."
        case .headerUnsupported:
            "The token's header has crit, b64 or zip, or a typ other than JWT; send the ID Token, not another token."
        case .algorithmNotAllowed:
            "The token's alg is not allowed for this provider; check the setting algorithms."
        case .keyNotFound:
            "No published key of the provider matches the token's kid and alg; check that the token is from this provider."
        case .keyUnsuitable:
            "The provider's key for this token is too small, malformed, or on the wrong curve for its algorithm; report it to the provider."
        case .signatureInvalid:
            "The signature does not match the provider's key: the token was altered, forged, or issued in another environment; send the token exactly as the provider issued it."
        case .issuerMismatch:
            "The token's iss, its tenant or its key's issuer is not one that this provider accepts; check issuer and tenants in the settings."
        case .audienceMismatch:
            "None of the token's audiences is configured, or one of them is neither configured nor trusted; check audiences and trusted_audiences."
        case .authorizedPartyMismatch:
            "The token's azp is not an accepted party; if it is your client ID, add it to authorized_parties."
        case .tokenExpired: "The token's exp has passed; have the user sign in again."
        case .tokenNotYetValid:
            "The token's nbf or iat is in the future; check this machine's clock and the provider's."
        case .tokenTooOld: "The token was issued longer ago than max_token_age allows; have the user sign in again."
        case .authTimeTooOld: "The user authenticated longer ago than max_age allows; have the user authenticate again."
        case .claimMissing(let claim):
            "The token has no \(claim.string), which is required; send an ID Token, request the scope that adds the claim, or change required_claims."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid or that the settings refuse; send the token to POST /v1/explain to see why."
        case .nonceRequired:
            "The request has no nonce, but the token has one or the provider requires one; send the raw nonce."
        case .nonceMissing: "The token has no nonce, but one is expected; have the app pass the nonce to the provider."
        case .nonceMismatch:
            "The token's nonce does not match this sign-in's: it belongs to another sign-in, or its form is not in nonce.match; begin a new sign-in, or correct nonce.match."
        case .atHashMissing: "The token has no at_hash to check the access token against; omit access_token."
        case .atHashMismatch:
            "The access token is not the one that this ID Token was issued with; send both from the same response of the provider."
        case .cHashMissing: "The token has no c_hash to check the code against; omit code."
        case .cHashMismatch:
            "The code is not the one that this ID Token was issued with; send both from the same response of the provider."
        case .sessionRevoked:
            "The user authenticated before authenticated_after, when sessions were revoked; have the user sign in again."
        case .subjectMismatch:
            "The token is valid, but for a user other than the one in subject and issuer; have the expected user sign in."
        case .scopeMissing:
            "The access token does not grant every scope in scopes; have the app request an access token with them."
        case .cryptographyUnavailable:
            "The verification failed inside Assay, and the token may be valid; try once more, and report request_id if it fails again."
        }
    }

    /// The detail for a notification, where it differs from that for an ID Token.
    fileprivate var notificationDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The notification is longer than \(UnverifiedToken.maximumLength) bytes; send only the notification, exactly as the provider sent it."
        case .tokenMalformed(.encrypted):
            "The notification has five parts: it is encrypted (JWE); ask the provider for signed notifications."
        case .tokenMalformed(.serialization):
            "The notification is not three parts of base64url separated by dots; send it exactly as the provider sent it."
        case .headerUnsupported:
            "The notification's header has crit, b64 or zip, or a typ that does not fit its events; check that it is a notification, and not another token."
        case .issuerMismatch:
            "The notification's iss is not this provider's issuer, byte for byte; check issuer in the settings."
        case .audienceMismatch: "None of the notification's audiences is configured; check audiences."
        case .tokenExpired: "The notification's exp has passed; check for a queue that delays notifications."
        case .tokenNotYetValid:
            "The notification's nbf or iat is in the future; check this machine's clock and the provider's."
        case .tokenTooOld:
            "The notification was issued longer ago than notifications_max_age allows; raise it if deliveries may take longer."
        case .claimMissing(let claim):
            "The notification has no \(claim.string), which is required; check that it is a notification, and not another token."
        case .claimInvalid(.events):
            "The notification's events are of an unknown kind, or of one that notifications does not list; add the kind to the provider's notifications."
        case .claimInvalid(let claim):
            "The notification's \(claim.string) has an invalid value for its kind; report it to the provider."
        case .tokenMalformed(.header), .tokenMalformed(.payload), .tokenMalformed(.signature), .algorithmNotAllowed,
            .keyNotFound, .keyUnsuitable, .signatureInvalid, .authorizedPartyMismatch, .authTimeTooOld, .sessionRevoked,
            .nonceRequired, .nonceMissing, .nonceMismatch, .atHashMissing, .atHashMismatch, .cHashMissing,
            .cHashMismatch, .subjectMismatch, .scopeMissing, .cryptographyUnavailable:
            detail
        }
    }
}

extension Rejection {
    /// The detail for an access token, where it differs from that for an ID Token. Names the kind of token that was
    /// sent, if it can be recognized.
    fileprivate var accessTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The token is longer than \(UnverifiedToken.maximumLength) bytes; send only the access token."
        case .tokenMalformed(.encrypted):
            "The token has five parts: it is encrypted (JWE); ask the provider for signed access tokens."
        case .tokenMalformed(.serialization):
            "The token is not three parts of base64url separated by dots: an opaque access token, which only the provider can read, or a damaged one; ask the provider for JWT access tokens."
        case .headerUnsupported:
            "The token's header has crit, b64 or zip, or a typ other than an access token's (at+jwt); send the access token, not the ID Token or another token."
        case .audienceMismatch:
            "The token's aud is not one of this API's identifiers; check audiences, and send the access token, not the ID Token, whose aud is the client."
        case .authorizedPartyMismatch:
            "The token was issued to a client that this API does not accept; if it is one of yours, add it to authorized_parties."
        case .tokenExpired: "The token's exp has passed; have the client refresh it."
        case .tokenTooOld: "The token was issued longer ago than max_token_age allows; have the client refresh it."
        case .claimMissing(.subject):
            "The token has no sub, so it identifies nobody; to accept service tokens of Cloudflare Access, set service_tokens: true."
        case .claimMissing(.issuedAt):
            "The token has no iat, so its age is unknown; send one that has iat, or, for a load balancer's assertion, omit authenticated_after."
        case .claimMissing(.signer), .claimInvalid(.signer):
            "The assertion's signer is missing or names another load balancer; check signer in the settings, byte for byte, and never accept assertions from other load balancers."
        case .claimMissing(.scope), .claimMissing(.shortScope), .claimMissing(.clientID):
            "The token has no \(claim?.string ?? ""), which this provider's access tokens have; send the access token, not the ID Token."
        case .claimMissing(let claim):
            "The token has no \(claim.string), which is required; send an access token, have the provider add the claim, or change required_claims."
        case .claimInvalid(.nonce), .claimInvalid(.accessTokenHash), .claimInvalid(.codeHash), .claimInvalid(.authTime):
            "The token has \(claim?.string ?? ""), which only ID Tokens have; send the access token from the provider's response."
        case .claimInvalid(.events):
            "The token has events: it is a notification; send it to /v1/notifications/verify."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid, that the settings refuse, or that another kind of token has; send the access token, and check claim_values."
        case .sessionRevoked:
            "The user authenticated before authenticated_after, when sessions were revoked; have the user sign in again."
        case .subjectMismatch:
            "The token is valid, but for a user or machine other than the one in subject and issuer; refuse the request."
        case .tokenMalformed(.header), .tokenMalformed(.payload), .tokenMalformed(.signature):
            "A part of the token is not one JSON object, not base64url, or wrongly padded (only an AWS load balancer's assertion has padding); send the token exactly as it was issued."
        case .algorithmNotAllowed, .keyNotFound, .keyUnsuitable, .signatureInvalid, .issuerMismatch, .tokenNotYetValid,
            .authTimeTooOld,
            .nonceRequired, .nonceMissing, .nonceMismatch, .atHashMissing, .atHashMismatch, .cHashMissing,
            .cHashMismatch, .scopeMissing, .cryptographyUnavailable:
            detail
        }
    }
}

extension Problem {
    /// The problem for a failed call to a provider's endpoint.
    package init(_ failure: CallFailure) {
        self =
            switch failure {
            case .notSent(.credential): .rejected(.cryptographyUnavailable)
            case .notSent: .providerUnavailable(retryAfterSeconds: Self.usualRetryAfter)
            case .unavailable(_, let seconds): .providerUnavailable(retryAfterSeconds: seconds ?? Self.usualRetryAfter)
            case .grantInvalid(let name): .grantInvalid(name)
            case .clientRejected(let name): .clientRejected(name)
            case .refused(let name): .providerRefused(name)
            case .answerInvalid: .providerAnswerInvalid
            }
    }

    /// An endpoint is not known yet, because the discovery document has not been read.
    package static let endpointUnknown = Problem.providerUnavailable(retryAfterSeconds: usualRetryAfter)
    /// All of a provider's `max_calls` are in flight.
    package static let callsFull = Problem.providerUnavailable(retryAfterSeconds: 1, limit: "max_calls")

    private static let usualRetryAfter: Int64 = 2
}
