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
        case .groupsOverage: "Too many groups"
        case .cryptographyUnavailable: "Internal error"
        }
    }

    /// What was found or expected, and what to do, in words for a token of this kind.
    func detail(of kind: Problem.TokenKind) -> String {
        switch kind {
        case .idToken: idTokenDetail
        case .accessToken: accessTokenDetail
        case .notification: notificationDetail
        }
    }

    var idTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The token is longer than \(UnverifiedToken.maximumLength) bytes; send nothing but the id_token, or have the provider put less into it, such as fewer groups."
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
        case .audienceNotExpected:
            "The token is for another of the provider's audiences than the one that was expected; name the token's own."
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
            "The token has \(claim?.string ?? ""), so it is probably an access token; send the ID Token, or, if this is it, use a nonce, set refuse_access_tokens: false, or change the rules for the claim."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid or that the settings refuse; send the token to POST /v1/explain to see why."
        case .nonceRequired:
            "The request has no nonce, but the token has one or the provider requires one; send the raw nonce that the app passed to the provider, or, if the app's SDK makes one that nobody else knows, set nonce.check: off."
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
        case .bindingRequired:
            "The token is bound to its client's key (cnf), and nothing proves that the sender has the key; have the provider issue bearer tokens for this API, or accept the risk with unchecked_bindings: true."
        case .groupsOverage:
            "The user has too many groups for the provider to list in the token, so a rule for groups can't be checked; have the provider send fewer groups, such as only those assigned to the application, or use roles."
        case .cryptographyUnavailable:
            "The verification failed inside Assay, and the token may be valid; try once more, and report request_id if it fails again."
        }
    }
}
