internal import IDToken

extension Rejection {
    var title: String {
        switch self {
        case .tokenMalformed: "Malformed token"
        case .headerUnsupported: "Unsupported token header"
        case .algorithmNotAllowed: "Algorithm not allowed"
        case .keyNotFound: "Key not found"
        case .keyUnsuitable: "Key unsuitable"
        case .signatureInvalid: "Invalid signature"
        case .issuerMismatch: "Issuer mismatch"
        case .audienceMismatch, .audienceNotExpected: "Audience mismatch"
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
        case .bindingRequired: "Key binding not proven"
        case .bindingMissing: "Key binding missing"
        case .bindingMismatch: "Key binding mismatch"
        case .proofInvalid: "DPoP proof invalid"
        case .tokenInactive: "Token inactive"
        case .proofNonceRequired: "DPoP nonce required"
        case .groupsOverage: "Too many groups"
        case .cryptographyUnavailable: "Internal error"
        }
    }

    /// What was found or expected, and what to do, in words for a token of this kind.
    func detail(of kind: Problem.TokenKind) -> String {
        switch kind {
        case .idToken: idTokenDetail
        case .accessToken: accessTokenDetail
        case .opaqueToken: opaqueTokenDetail
        case .notification: notificationDetail
        }
    }

    var idTokenDetail: String {
        switch self {
        case .tokenMalformed(.empty):
            "The token is empty, so there is nothing to verify; check where the app or the backend reads it."
        case .tokenMalformed(.tooLong):
            "The token is longer than limits.max_token allows; send nothing but the id_token, have the provider put less into it, such as fewer groups, or raise the limit."
        case .tokenMalformed(.encrypted):
            "The token has five parts: it is encrypted (JWE); to open it, add encryption to the provider in the settings (gateways open none), or ask the provider for signed ID Tokens."
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
            "The token's iss, its tenant or its key's issuer is not one that this provider accepts; check issuer and tenants in the settings or, beside connection, the request's issuer."
        case .audienceMismatch:
            "None of the token's audiences is configured, or one of them is neither configured nor trusted; check audiences and trusted_audiences or, beside connection, the request's audience."
        case .audienceNotExpected:
            "The token is for another of the provider's audiences than the one that was expected; set audience to the token's own."
        case .authorizedPartyMismatch:
            "The token's azp is not an accepted party; if it is your client ID, add it to authorized_parties."
        case .tokenExpired: "The token's exp has passed; have the user sign in again."
        case .tokenNotYetValid:
            "The token's nbf or iat is in the future; check this machine's clock and the provider's."
        case .tokenTooOld: "The token was issued longer ago than max_token_age allows; have the user sign in again."
        case .authTimeTooOld: "The user authenticated longer ago than max_age allows; have the user authenticate again."
        case .claimMissing(.issuer), .claimMissing(.subject), .claimMissing(.audience), .claimMissing(.expiration),
            .claimMissing(.issuedAt):
            "The token has no \(claim?.string ?? ""), which every ID Token has; send the ID Token of the provider's response, or have the provider add the claim."
        case .claimMissing(let claim):
            "The token has no \(claim.string), which is required; send an ID Token, request the scope that adds the claim, or change required_claims."
        case .claimInvalid(.events):
            "The token has events: it is a logout token or another notification; send it to POST /v1/notifications/verify."
        case .claimInvalid(.scope), .claimInvalid(.shortScope), .claimInvalid(.clientID):
            "The token has \(claim?.string ?? ""), so it is probably an access token; send the ID Token, or, if this is the ID Token, use a nonce, set refuse_access_tokens: false, or change the rules for the claim."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid or that the settings refuse; send the token to POST /v1/explain to see why."
        case .nonceRequired:
            "The request has no nonce, but the token has one or the provider requires one; send this sign-in's raw nonce, or, if the app's SDK creates one that the app can't read, set nonce.check: off."
        case .nonceMissing: "The token has no nonce, but one is expected; have the app pass the nonce to the provider."
        case .nonceMismatch:
            "The token's nonce does not match this sign-in's: it belongs to another sign-in, or its form is not in nonce.match; begin a new sign-in, or correct nonce.match."
        case .atHashMissing: "The token has no at_hash to check the access token against; omit access_token."
        case .atHashMismatch:
            "The access token is not the one that this ID Token was issued with; send both from the same response of the provider."
        case .cHashMissing:
            "The token has no c_hash to check the code against; omit code, or, if both came to the redirect URI (response_type: code id_token), report it to the provider."
        case .cHashMismatch:
            "The code is not the one that this ID Token was issued with; send both from the same response of the provider."
        case .sessionRevoked:
            "The user authenticated before authenticated_after, when sessions were revoked; have the user sign in again."
        case .subjectMismatch:
            "The token is valid, but for a user other than the one in subject and issuer; have the expected user sign in."
        case .scopeMissing:
            "The access token does not grant every scope in scopes; have the app request an access token with them."
        case .tokenInactive:
            "The provider says that the token is not active: it has expired, was revoked, or was never issued to be used here; have the client get a new one."
        case .bindingRequired:
            "The token is bound to its client's key (cnf), and nothing proves that the sender has the key; send what cnf names (x5t#S256: certificate; jkt: dpop, with the scheme DPoP), have the provider issue bearer tokens for this API, or accept the risk with unchecked_bindings: true."
        case .bindingMissing:
            "The token's cnf does not name the key that is needed: jkt for a DPoP proof, or what the provider's setting binding demands; have the client request a token that is bound to its key, or, if unbound tokens may pass, send no proof and omit the setting binding."
        case .bindingMismatch:
            "The token is bound to another key: the thumbprint in its cnf is not that of the client's certificate, or of the DPoP proof's key; refuse the request, and if all are refused, check that certificate is that of the client's own connection."
        case .proofInvalid(let fault):
            "The DPoP proof is refused: \(fault.text); have the client make a new one for this request, and check that dpop has the request as the client sent it."
        case .proofNonceRequired:
            "The DPoP proof has no nonce, or one that Assay did not make in the last five minutes; pass dpop_nonce to the client in the header DPoP-Nonce, and have it repeat the request with a proof that has it."
        case .groupsOverage:
            "The user has too many groups for the provider to list in the token, so a rule for groups can't be checked; have the provider send fewer groups, such as only those assigned to the application, or use roles."
        case .cryptographyUnavailable:
            "The verification failed inside Assay, and the token may be valid; try once more, and report request_id if it fails again."
        }
    }
}

extension Rejection {
    /// The detail for an access token, where it differs from that for an ID Token. Names the kind of token that was
    /// sent, if it can be recognized.
    var accessTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The token is longer than limits.max_token allows; send nothing but the access token, have the provider put less into it, such as fewer groups, or raise the limit."
        case .tokenMalformed(.encrypted):
            "The token has five parts: it is encrypted (JWE); ask the provider for signed access tokens."
        case .tokenMalformed(.serialization):
            "The token is not three parts of base64url separated by dots: an opaque access token, which only the provider can read, or a damaged one; ask the provider for JWT access tokens."
        case .headerUnsupported:
            "The token's header has crit, b64 or zip, or a typ other than this provider's access tokens have (at+jwt, unless token_types or a preset says otherwise); send the access token, not the ID Token or another token, or set token_types."
        case .audienceMismatch:
            "The token's aud is not one of this API's identifiers; check audiences, and send the access token, not the ID Token, whose aud is the client."
        case .authorizedPartyMismatch:
            "The token was issued to a client that this API does not accept; if it is one of yours, add it to authorized_parties."
        case .tokenExpired: "The token's exp has passed; have the client refresh it."
        case .tokenTooOld: "The token was issued longer ago than max_token_age allows; have the client refresh it."
        case .claimMissing(.subject):
            "The token has no sub, so it does not say whose it is; have the provider add it (Keycloak: the client scope basic), or, for service tokens of Cloudflare Access, set service_tokens: true."
        case .claimMissing(.issuer), .claimMissing(.audience), .claimMissing(.expiration):
            "The token has no \(claim?.string ?? ""), which every access token has; send the access token, or have the provider add the claim."
        case .claimMissing(.issuedAt):
            "The token has no iat, so its age is unknown; send one that has iat, or, for a load balancer's assertion, omit authenticated_after."
        case .claimMissing(.signer), .claimInvalid(.signer):
            "The assertion's signer is missing or names another load balancer; check signer in the settings, byte for byte, and never accept assertions from other load balancers."
        case .claimMissing(.scope), .claimMissing(.shortScope), .claimMissing(.clientID):
            "The token has no \(claim?.string ?? ""), which this provider's access tokens have; send the access token, not the ID Token, or correct client_claims or access_token_claim."
        case .claimMissing(let claim):
            "The token has no \(claim.string), which is required; send an access token, have the provider add the claim, or change required_claims."
        case .claimInvalid(.nonce), .claimInvalid(.accessTokenHash), .claimInvalid(.codeHash), .claimInvalid(.authTime):
            "The token has \(claim?.string ?? ""), which only ID Tokens have; send the access token from the provider's response."
        case .claimInvalid(.events):
            "The token has events: it is a notification; send it to /v1/notifications/verify."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid, that the settings refuse, or that another kind of token has; send the access token, and check claim_values."
        case .subjectMismatch:
            "The token is valid, but for a user or machine other than the one in subject and issuer; refuse the request."
        case .tokenMalformed(.header), .tokenMalformed(.payload), .tokenMalformed(.signature):
            "A part of the token is not one JSON object, not base64url, or wrongly padded (only an AWS load balancer's assertion has padding); send the token exactly as it was issued."
        case .tokenMalformed(.empty), .algorithmNotAllowed, .keyNotFound, .keyUnsuitable, .signatureInvalid,
            .issuerMismatch, .audienceNotExpected, .tokenNotYetValid, .authTimeTooOld, .sessionRevoked, .nonceRequired,
            .nonceMissing, .nonceMismatch, .atHashMissing, .atHashMismatch, .cHashMissing, .cHashMismatch,
            .scopeMissing, .tokenInactive, .bindingRequired, .bindingMissing, .bindingMismatch, .proofInvalid,
            .proofNonceRequired, .groupsOverage, .cryptographyUnavailable:
            idTokenDetail
        }
    }
}

extension Rejection {
    /// The detail for a notification, where it differs from that for an ID Token.
    var notificationDetail: String {
        switch self {
        case .tokenMalformed(.empty):
            "The notification is empty, so there is nothing to verify; check how the backend reads the provider's request."
        case .tokenMalformed(.tooLong):
            "The notification is longer than limits.max_token allows; send nothing but the notification, exactly as the provider sent it, or raise the limit."
        case .tokenMalformed(.encrypted):
            "The notification has five parts: it is encrypted (JWE); to open it, add encryption to the provider in the settings, or ask the provider for signed notifications."
        case .tokenMalformed(.serialization):
            "The notification is not three parts of base64url separated by dots; send it exactly as the provider sent it."
        case .headerUnsupported:
            "The notification's header has crit, b64 or zip, or a typ that does not fit its events; check that it is a notification, and not another token."
        case .issuerMismatch:
            "The notification's iss is not this provider's issuer, byte for byte; check issuer in the settings."
        case .audienceMismatch, .audienceNotExpected:
            "None of the notification's audiences is configured; check audiences."
        case .tokenExpired: "The notification's exp has passed; check for a queue that delays notifications."
        case .tokenNotYetValid:
            "The notification's nbf or iat is in the future; check this machine's clock and the provider's."
        case .tokenTooOld:
            "The notification was issued longer ago than notifications_max_age allows; raise it if deliveries may take longer."
        case .claimMissing(.expiration):
            "The logout token has no exp, which Back-Channel Logout requires; for Ory, whose logout tokens never have one, use the preset ory; otherwise, have the provider add it."
        case .claimMissing(.subject):
            "The logout token has neither sub nor sid, so it does not say whose session ended; have the provider add one of them."
        case .claimMissing(let claim):
            "The notification has no \(claim.string), which is required; check that it is a notification, and not another token."
        case .claimInvalid(.events):
            "The notification's events have none of the known forms, or their kind is not listed in the provider's notifications; to see which, send it to POST /v1/explain with \"as\": \"notification\"."
        case .claimInvalid(let claim):
            "The notification's \(claim.string) has an invalid value for its kind; report it to the provider."
        case .tokenMalformed(.header), .tokenMalformed(.payload), .tokenMalformed(.signature), .algorithmNotAllowed,
            .keyNotFound, .keyUnsuitable, .signatureInvalid, .authorizedPartyMismatch, .authTimeTooOld, .sessionRevoked,
            .nonceRequired, .nonceMissing, .nonceMismatch, .atHashMissing, .atHashMismatch, .cHashMissing,
            .cHashMismatch, .subjectMismatch, .scopeMissing, .tokenInactive, .bindingRequired, .bindingMissing,
            .bindingMismatch, .proofInvalid, .proofNonceRequired, .groupsOverage, .cryptographyUnavailable:
            idTokenDetail
        }
    }
}

extension Rejection {
    /// The detail for an access token about which the provider was asked, where it differs from that for a JWT.
    private var opaqueTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong): accessTokenDetail
        case .tokenMalformed:
            "The token is no bearer token (letters, digits, and -._~+/ with = only at its end), or looks like a JWT that can't be read, so the provider was not asked; send it exactly as the provider issued it."
        case .issuerMismatch:
            "The introspection response's iss is not this provider's issuer, byte for byte; check issuer and introspection.endpoint in the settings."
        case .audienceMismatch:
            "The introspection response's aud is not one of this API's identifiers, or there is an aud although audiences is none; check audiences."
        case .claimMissing(.audience):
            "The introspection response has no aud; have the provider add it, or, if a client or a scope ties tokens to this API, set audiences: none with authorized_parties or required_scopes."
        case .claimMissing(let claim):
            "The introspection response has no \(claim.string), which the settings or the request require; have the provider add it, or correct them."
        case .claimInvalid(let claim):
            "The introspection response's \(claim.string) has a value that is invalid or that the settings refuse; check claim_values."
        case .scopeMissing:
            "The token does not grant every scope in scopes and required_scopes; have the app request an access token with them."
        case .subjectMismatch:
            "The token is valid, but for a user or machine other than the one in subject and issuer, or the provider does not say whose it is; refuse the request."
        default: accessTokenDetail
        }
    }
}
