internal import IDToken

extension Rejection {
    /// The detail for a notification, where it differs from that for an ID Token.
    var notificationDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The notification is longer than \(UnverifiedToken.maximumLength) bytes; send nothing but the notification, exactly as the provider sent it."
        case .tokenMalformed(.encrypted):
            "The notification has five parts: it is encrypted (JWE); ask the provider for signed notifications."
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
            .cHashMismatch, .subjectMismatch, .scopeMissing, .bindingRequired, .groupsOverage,
            .cryptographyUnavailable:
            idTokenDetail
        }
    }
}
