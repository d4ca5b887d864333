private import Bytes
package import IDToken
package import OAuth

/// Why a request failed (RFC 9457). Lists every code of the contract.
package enum Problem: Error, Equatable, Sendable {
    /// The text says what was expected. It is fixed, and repeats nothing from the request except a number, the name of
    /// an unknown member (see ``JSONObject/redactedName(_:)``), or the position of a JSON error.
    ///
    /// Whatever reads a request or its members may throw it; the comment of a function names only its other problems.
    case requestInvalid(String)
    case notFound
    /// The path belongs to a feature that is off.
    case featureOff(Feature)
    /// The path names a policy of `forward_auth` that does not exist.
    case policyUnknown
    /// No resource has its metadata at this path of this host.
    case metadataUnknown
    /// Like `notFound`, on the admin listener, which has other paths.
    case notFoundByAdmin(paths: String)
    /// A path of the console while the console is disabled.
    case consoleOff
    case methodNotAllowed(allow: String)
    case requestTimeout
    case requestTooLarge
    case headersTooLarge
    case contentTypeUnsupported
    case callerUnauthenticated
    /// The caller's key is for other paths.
    case callerForbidden
    /// - Parameter nearest: the configured ID that the request probably meant.
    case providerUnknown(nearest: String? = nil)
    /// Like `providerUnknown`: the provider or issuer is known, but its entry verifies the other kind of token.
    case providerOfAccessTokens
    case providerOfIDTokens
    /// - Parameter nearest: the configured ID that the request probably meant.
    case resourceUnknown(nearest: String?)
    /// Like `providerUnknown`: an opaque token names no issuer, and the request names no provider.
    case opaqueTokenUnnamed
    /// Like `rejected(.issuerMismatch)`: the token is a JWT about which the provider must not be asked.
    case tokenOfAnotherIssuer
    case audienceNotConfigured
    case clientNotConfigured
    case redirectURINotConfigured
    /// Like `redirectURINotConfigured`, of a sign-out.
    case postLogoutRedirectURINotConfigured
    case signInNotSupported
    /// Like `signInNotSupported`: the client's requests must be pushed, but the provider has no endpoint for that.
    case pushedRequestsNotSupported
    /// Like `signInNotSupported`: the client's requests must be signed, but there is no key.
    case requestKeyMissing
    /// Like `signInNotSupported`: the client's requests must be signed, but no single issuer is their audience.
    case requestAudienceUnknown
    /// The backend may not request a proof for this URL.
    case urlNotAllowed
    case revocationNotSupported
    case signOutNotSupported
    case notificationsNotConfigured
    case signInInvalid
    case signInExpired
    case signInReplayed
    /// The key of a bound grant can't be had from `binding`.
    case bindingInvalid
    case nonceReplayed
    case proofReplayed
    /// A gateway did not send exactly once the method and the URL of the client's request, which a DPoP proof must name.
    case requestUnknown
    case stateMismatch
    case redirectURIMismatch
    /// The token's `acr` is none of those that the sign-in demands.
    case acrMismatch
    case responseIssuerMismatch(ResponseIssuerFault)
    /// The response does not fit a sign-in that asked for a signed one.
    case responseInvalid(ResponseFault)
    /// - Parameter context: the backend's own data, such as the page to which the user should return.
    case signInDenied(context: String?)
    /// The provider ended the sign-in in the browser with another error.
    case signInRefused(OAuthErrorName, context: String?)
    /// - Parameter isSpent: whether the sign-in or nonce may have been used up, because the outcome of its claim is
    ///   unknown.
    case storeUnavailable(isSpent: Bool)
    case rejected(Rejection, of: TokenKind = .idToken)
    /// An encrypted token was not opened, or a plain one must be encrypted.
    case encryption(EncryptionFault)
    /// Like `rejected(.audienceNotExpected)`.
    ///
    /// - Parameter expected: one of the configured audiences.
    case audienceNotExpected(_ expected: String)
    /// Like `rejected(.issuerMismatch)`: the resource accepts no tokens like this one.
    case issuerNotOfResource
    /// The API's client sent no token.
    case tokenMissing
    /// The code or token can't be used.
    case grantInvalid(OAuthErrorName)
    /// The provider refuses the client's credentials.
    case clientRejected(OAuthErrorName)
    case providerRefused(OAuthErrorName)
    case providerAnswerInvalid(CallFailure.AnswerFault)
    /// - Parameter limit: the setting whose limit was reached, if that is the reason.
    case providerUnavailable(retryAfterSeconds: Int64, limit: String? = nil)
    case keysUnavailable(retryAfterSeconds: Int64)
    /// - Parameter limit: the setting whose limit was reached, such as `limits.max_in_flight`.
    case overloaded(limit: String)
    case shuttingDown

    /// The kind of token that was expected. The details of a rejection differ by kind.
    package enum TokenKind: Sendable {
        case idToken
        case accessToken
        /// An access token about which the provider is asked.
        case opaqueToken
        case notification
    }

    /// What is wrong with the issuer of a response to the redirect URI.
    package enum ResponseIssuerFault: Sendable {
        case missing
        case notTheProviders
        case notTheTokens
    }

    /// The facts about a code, the same for every occurrence.
    private struct Row {
        /// `nil` for a rejection, which has its own: looked up with each row, they cost a refusal 1,000 instructions.
        let words: (code: String, title: String)?
        let status: Int
        /// After how many seconds to try again; `nil`: that can't help.
        var retryAfter: Int64?
        var isSpent = false

        init(_ code: String, _ status: Int, _ title: String, retryAfter: Int64? = nil, isSpent: Bool = false) {
            words = (code, title)
            self.status = status
            self.retryAfter = retryAfter
            self.isSpent = isSpent
        }

        init(ofRejectionWithStatus status: Int) {
            words = nil
            self.status = status
        }
    }

    /// Every fact about a code is here, once.
    // Inlined, so that whoever needs one fact pays for one.
    @inline(__always)
    private var row: Row {
        switch self {
        case .requestInvalid: Row("request_invalid", 400, "Invalid request")
        case .notFound, .featureOff, .policyUnknown, .metadataUnknown, .notFoundByAdmin, .consoleOff:
            Row("not_found", 404, "Not found")
        case .methodNotAllowed: Row("method_not_allowed", 405, "Method not allowed")
        case .requestTimeout: Row("request_timeout", 408, "Request timed out")
        case .requestTooLarge: Row("request_too_large", 413, "Request too large")
        case .headersTooLarge: Row("headers_too_large", 431, "Header fields too large")
        case .contentTypeUnsupported: Row("content_type_unsupported", 415, "Unsupported content type")
        case .callerUnauthenticated: Row("caller_unauthenticated", 401, "Caller not authenticated")
        case .callerForbidden: Row("caller_forbidden", 403, "Caller not allowed")
        case .providerUnknown, .providerOfAccessTokens, .providerOfIDTokens, .opaqueTokenUnnamed:
            Row("provider_unknown", 404, "Unknown provider")
        case .resourceUnknown: Row("resource_unknown", 404, "Unknown resource")
        case .audienceNotConfigured: Row("audience_not_configured", 400, "Audience not configured")
        case .clientNotConfigured: Row("client_not_configured", 400, "Client not configured")
        case .redirectURINotConfigured, .postLogoutRedirectURINotConfigured:
            Row("redirect_uri_not_configured", 400, "Redirect URI not configured")
        case .signInNotSupported, .pushedRequestsNotSupported, .requestKeyMissing, .requestAudienceUnknown:
            Row("sign_in_not_supported", 400, "Sign-in not supported")
        case .urlNotAllowed: Row("url_not_allowed", 400, "URL not allowed")
        case .revocationNotSupported: Row("revocation_not_supported", 400, "Revocation not supported")
        case .signOutNotSupported: Row("sign_out_not_supported", 400, "Sign-out not supported")
        case .notificationsNotConfigured: Row("notifications_not_configured", 400, "Notifications not configured")
        case .signInInvalid: Row("sign_in_invalid", 422, "Invalid sign-in")
        case .signInExpired: Row("sign_in_expired", 422, "Sign-in expired")
        case .signInReplayed: Row("sign_in_replayed", 422, "Sign-in already finished", isSpent: true)
        case .bindingInvalid: Row("binding_invalid", 422, "Invalid binding")
        case .nonceReplayed: Row("nonce_replayed", 422, "Nonce replayed", isSpent: true)
        case .proofReplayed: Row("dpop_proof_replayed", 422, "DPoP proof replayed", isSpent: true)
        case .requestUnknown: Row("request_unknown", 503, "Request unknown")
        case .stateMismatch: Row("state_mismatch", 422, "State mismatch")
        case .acrMismatch: Row("acr_mismatch", 422, "Authentication too weak")
        case .redirectURIMismatch: Row("redirect_uri_mismatch", 422, "Redirect URI mismatch")
        case .responseIssuerMismatch: Row("response_issuer_mismatch", 422, "Response issuer mismatch")
        case .responseInvalid: Row("response_invalid", 422, "Invalid response")
        case .signInDenied: Row("sign_in_denied", 422, "Sign-in denied")
        case .storeUnavailable(let isSpent):
            Row("store_unavailable", 503, "Store unavailable", retryAfter: 1, isSpent: isSpent)
        case .encryption(let fault): Row(fault.words.code, 422, fault.words.title)
        case .rejected(.cryptographyUnavailable, _): Row(ofRejectionWithStatus: 500)
        case .rejected, .audienceNotExpected, .issuerNotOfResource, .tokenOfAnotherIssuer:
            Row(ofRejectionWithStatus: 422)
        case .tokenMissing: Row("token_missing", 422, "Token missing")
        case .grantInvalid: Row("grant_invalid", 422, "Grant invalid")
        case .clientRejected: Row("client_rejected", 502, "Client rejected")
        case .signInRefused, .providerRefused: Row("provider_refused", 422, "Refused by the provider")
        case .providerAnswerInvalid: Row("provider_answer_invalid", 502, "Invalid provider response")
        case .providerUnavailable(let seconds, _):
            Row("provider_unavailable", 503, "Provider unavailable", retryAfter: seconds)
        case .keysUnavailable(let seconds): Row("keys_unavailable", 503, "Keys unavailable", retryAfter: seconds)
        case .overloaded: Row(Self.overloadedCode, 503, "Overloaded", retryAfter: 1)
        case .shuttingDown: Row("shutting_down", 503, "Shutting down", retryAfter: 1)
        }
    }

    /// Stable: clients may depend on it.
    package var code: String { row.words?.code ?? rejection.code.rawValue }

    /// The HTTP status code (RFC 9457, 3.1.2).
    package var status: Int { row.status }

    /// A few words, the same for every occurrence.
    package var title: String { row.words?.title ?? rejection.title }

    /// Of the problems without words in their rows.
    private var rejection: Rejection {
        switch self {
        case .rejected(let rejection, _): rejection
        case .issuerNotOfResource, .tokenOfAnotherIssuer: .issuerMismatch
        default: .audienceNotExpected
        }
    }

    /// After how many seconds to try again; `nil`: that can't help.
    package var retryAfterSeconds: Int64? { row.retryAfter }

    /// Whether the sign-in, nonce or proof has been used up, or may have been, so that it must not be sent again.
    package var isSpent: Bool { row.isSpent }

    /// The code of ``overloaded(limit:)``, whatever the limit.
    package static let overloadedCode = "overloaded"

    /// Human-readable: what was found or expected, and what to do.
    package var detail: String {
        switch self {
        case .requestInvalid(let text): text
        case .notFound:
            "The service listener has no such path; /openapi.yaml lists the paths of both listeners."
        case .featureOff(let feature): feature.absence
        case .policyUnknown:
            "No policy of forward_auth has the id in the path, byte for byte; correct the gateway's path, or add the policy."
        case .metadataUnknown:
            "No resource in the settings has its metadata at this path of the host in Host; have the proxy pass Host and the path unchanged, or correct resources."
        case .notFoundByAdmin(let paths):
            "The admin listener has no such path; it has \(paths); tokens are verified on the service listener."
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
        case .callerForbidden:
            "The API key is not for this path; send another key, or extend this key's allow in the settings (the admin listener's paths other than /v1/explain need a key that allows all)."
        case .providerUnknown(nil):
            "No configured provider has this id or this issuer; correct the request, or add the provider to the settings."
        case .providerUnknown(let nearest?):
            "No configured provider has this id, and the nearest is \(nearest); correct the request, or add the provider to the settings."
        case .providerOfAccessTokens:
            "The provider with this id or issuer verifies access tokens, not ID Tokens; send access tokens to /v1/access-tokens/verify, or add a provider without tokens: access."
        case .providerOfIDTokens:
            "The provider with this id or issuer verifies ID Tokens, not access tokens; send ID Tokens to /v1/verify, or add a provider with tokens: access or tokens: opaque."
        case .resourceUnknown(nil):
            "No resource in the settings has this id, byte for byte; correct the request, or add it to resources."
        case .resourceUnknown(let nearest?):
            "No resource in the settings has this id, and the nearest is \(nearest); correct the request, or add it to resources."
        case .opaqueTokenUnnamed:
            "The token is opaque: it names no issuer, so the request must name its provider, an entry with tokens: opaque, or a resource of such an entry; add provider or resource."
        case .audienceNotConfigured:
            "The request's audience is not one of the provider's audiences; correct the request, or add the audience to the provider."
        case .clientNotConfigured:
            "This audience has no client in the settings, but codes, redirect URIs, refresh tokens and sign-outs need one; add one to the provider's clients."
        case .redirectURINotConfigured:
            "The client does not list this redirect_uri, byte for byte; correct it, or add it to the client's redirect_uris."
        case .postLogoutRedirectURINotConfigured:
            "The client does not list this post_logout_redirect_uri, byte for byte; correct it, or add it to the client's post_logout_redirect_uris."
        case .urlNotAllowed:
            "url is neither the provider's UserInfo endpoint nor of an origin in the client's dpop_origins, or it is another endpoint of the provider, for which only Assay makes proofs; correct it, or add its origin to dpop_origins."
        case .revocationNotSupported:
            "The provider has no revocation endpoint; delete the tokens, and let them expire."
        case .signOutNotSupported:
            "The provider's discovery document names no end_session_endpoint that can be used, or no discovery document is read; end your own session alone."
        case .signInNotSupported:
            "A sign-in of this kind can't begin with this provider: nothing would tie the token to it, the provider issues no tokens for such sign-ins, or it has no audiences; call /v1/verify instead."
        case .pushedRequestsNotSupported:
            "The client's authorization requests are to be pushed, but the provider's discovery document names no pushed_authorization_request_endpoint; set endpoints.pushed_authorization_request, or change the client's request (with a profile, only the provider can name it)."
        case .requestKeyMissing:
            "The client's authorization requests are to be signed, but it has no key; give it a key_file (auth: private_key_jwt), or add a key with use: signature to client_keys."
        case .requestAudienceUnknown:
            "The provider's discovery document requires signed requests, whose audience is the issuer, but the entry's issuer differs by tenant; use preset: oidc with the issuer of one tenant, or set the client's request to plain or pushed."
        case .notificationsNotConfigured:
            "This provider accepts no notifications; list the kinds that it sends under its setting notifications."
        case .signInInvalid:
            "sign_in was not made by this installation, was changed, or names a provider, audience or redirect URI that was removed; begin a new sign-in."
        case .signInExpired: "The sign-in took longer than its expires_in; begin a new one."
        case .signInReplayed: "The sign-in was finished before, and can be finished only once; begin a new one."
        case .bindingInvalid:
            "binding was not made by this installation, was changed, was sealed by a key that is no longer in sign_ins.key_files, or is of another provider's or audience's grant; send the binding that came with the refresh token, or have the user sign in again."
        case .stateMismatch:
            "The response's state is not this sign-in's, so it belongs to another browser or tab; begin a new sign-in."
        case .redirectURIMismatch:
            "The response arrived at an address other than the redirect_uri that this sign-in began with; begin a new sign-in."
        case .acrMismatch:
            "The token's acr is missing, or none of those that this sign-in demands (acr_values with require_acr, or an essential acr in claims); begin a new sign-in, or accept what the provider offers."
        case .responseIssuerMismatch(.missing):
            "The response has this sign-in's state, but no iss, which the provider's discovery document or the entry's profile demands; send all parameters that the redirect URI received, not code and state alone, and if iss is not among them, report it to the provider."
        case .responseIssuerMismatch(.notTheProviders):
            "The response's iss is not this provider's issuer, so another provider may have sent it; begin a new sign-in."
        case .responseIssuerMismatch(.notTheTokens):
            "The response's iss is not the issuer of its sign-in's ID Token; begin a new sign-in."
        case .responseInvalid(let fault): fault.detail
        case .signInDenied: "The user cancelled the sign-in; offer to begin a new one."
        case .nonceReplayed:
            "A token with this nonce was verified before, and a nonce can be used only once; begin a new sign-in."
        case .proofReplayed:
            "A request with this DPoP proof was accepted before, and a proof can be used only once; have the client make a new one for each request."
        case .requestUnknown:
            "The gateway did not send each header that request_url of this policy names exactly once, so a DPoP proof can't be compared with the client's request; have the gateway set them, and delete the client's own."
        case .storeUnavailable(isSpent: false):
            "The store is full, can't be reached, is refused (/readyz says which of these), or rejects the record (then check its ACL, replicas and disk); nothing was used up; try again."
        case .storeUnavailable(isSpent: true):
            "The store did not confirm in time, so the sign-in, nonce or DPoP proof may be used up; begin a new sign-in, or have the client send a new proof."
        case .rejected(let rejection, let kind): rejection.detail(of: kind)
        case .tokenOfAnotherIssuer:
            "The token is a JWT, and its iss is not this provider's, or is that of an entry with tokens: access, which alone verifies it; the provider was not asked about it; name the entry of the token's issuer, or none."
        case .encryption(let fault): fault.detail
        case .audienceNotExpected(let expected):
            "The sign-in or request is for the audience \(expected.quotedASCII(maximumLength: 255)), but the token is for another of the provider's audiences; set audience to the token's own (for a sign-in, when it begins)."
        case .issuerNotOfResource:
            "The token's iss is not an issuer of the resource's providers, or the token is opaque, which none of them can verify; have the client request a token from one of the resource's authorization_servers, or add the issuer's entry to the resource's providers."
        case .tokenMissing:
            "The client sent no token; answer it with challenge, so that it requests one."
        case .grantInvalid:
            "The provider says that the code or token has expired, was used or revoked, or belongs to another client; have the user sign in again."
        case .clientRejected:
            "The provider refuses the client's credentials, or its redirect URI; correct the client in the settings or, for a connection, in the request."
        case .signInRefused, .providerRefused:
            "The provider refused the request; see provider_error, and correct the request or the client's settings at the provider."
        case .providerAnswerInvalid(let fault):
            "The provider's response does not conform to the protocol: \(fault.text); check the provider's endpoints, in the settings or its discovery document, and try again later unless spent is true."
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
}

/// A part of the service whose paths do not exist until the settings turn it on.
package enum Feature: Sendable, CaseIterable {
    case signIns, clients, notifications, accessTokens, resources, forwardAuth, clientKeys

    /// What is off, and which setting turns it on.
    var absence: String {
        switch self {
        case .signIns: "Sign-ins are off; add sign_ins to the settings."
        case .clients: "No provider has OAuth clients; add clients to a provider in the settings."
        case .notifications:
            "No provider accepts notifications; in a provider's setting notifications, list the kinds that it sends."
        case .accessTokens:
            "No provider verifies access tokens; add one with tokens: access or tokens: opaque to the settings."
        case .resources: "No resource is configured; add resources to the settings."
        case .clientKeys: "Assay has no keys of its own; add client_keys to the settings."
        case .forwardAuth: "No gateway may ask; add policies under forward_auth in the settings."
        }
    }
}
