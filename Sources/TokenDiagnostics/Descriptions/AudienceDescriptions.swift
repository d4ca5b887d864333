private import Bytes
internal import IDToken

extension CheckDescriptions {
    /// Whether the token was issued to this relying party.
    func audience(_ rejection: Rejection?) -> Check {
        let found = claims.texts(.audience)
        return made(
            .audience, rejection, passed: "The token is for this app.", failed: audienceDiagnosis(rejection, found),
            expected: expectedAudience, found: found.isEmpty ? nil : Redaction.list(found))
    }

    var expectedAudience: String {
        if let audience = parameters.audience { return Redaction.text(audience) }
        return policy.audiences.isEmpty
            ? "none, and azp \(Redaction.list(policy.authorizedParties))" : Redaction.list(policy.audiences)
    }

    private func audienceDiagnosis(_ rejection: Rejection?, _ found: [String]) -> Diagnosis {
        let isConfigured = found.contains { policy.audiences.containsExactly($0) }
        if rejection == .authorizedPartyMismatch { return partyDiagnosis }
        if policy.audiences.isEmpty {
            return Diagnosis(
                "The token has an audience, but tokens of the provider \(policy.id) must have none.",
                fix: "If it is your client ID, \(policy.audienceAdvice).")
        }
        if let audience = parameters.audience, isConfigured, !found.containsExactly(audience) {
            return Diagnosis(
                """
                The token is for \(Redaction.list(found)), which is configured, but the request accepts only \
                \(Redaction.text(audience)).
                """,
                fix: "Set audience to the client ID of the app that signed in, or omit it.")
        }
        if isConfigured {
            let untrusted = found.filter {
                !policy.audiences.containsExactly($0) && !policy.trustedAudiences.containsExactly($0)
            }
            return Diagnosis(
                "The token is for this app, and also for \(Redaction.list(untrusted)), which is not trusted.",
                fix: "If you trust that audience, add it to trusted_audiences of the provider \(policy.id).")
        }
        if let signs = signsOfAccessToken { return signs }
        return unknownAudienceDiagnosis(found)
    }

    /// The diagnosis for a token with claims that access tokens have and ID Tokens don't.
    private var signsOfAccessToken: Diagnosis? {
        let signs = ["scope", "scp"].filter { claims.contains(ClaimName($0)) }
        guard !signs.isEmpty, !claims.contains(.nonce) else { return nil }
        return Diagnosis(
            """
            The token is for another audience, and looks like an access token: it has \
            \(signs.joined(separator: " and ")), and no nonce.
            """,
            fix: "Send the id_token of the provider's response, not the access_token.")
    }

    private func unknownAudienceDiagnosis(_ found: [String]) -> Diagnosis {
        let names = Redaction.list(found)
        if found.containsExactly(ProviderPolicy.expoGoAudience) {
            return Diagnosis(
                """
                The token is for \(ProviderPolicy.expoGoAudience), which is Expo Go: every app that runs there has this \
                audience, not only yours.
                """,
                fix: """
                    Use a development build, which has the app's own bundle ID. Never add \
                    \(ProviderPolicy.expoGoAudience) to the audiences in production: other people's apps could then sign \
                    users in to yours.
                    """)
        }
        guard let (audience, configured) = nearest(to: found) else {
            return Diagnosis(
                "The token is for \(names), but \(policy.audienceOwner) has other audiences.",
                fix:
                    "If it is your client ID, \(policy.audienceAdvice). Otherwise, the token was issued to another app."
            )
        }
        let (near, own) = (Redaction.text(audience), Redaction.text(configured))
        if folded(audience) == folded(configured) {
            return Diagnosis(
                "The token is for \(near), but only \(own) is configured; audiences are compared byte for byte.",
                fix: "In \(policy.audiencePlace), replace \(own) with \(near).")
        }
        return Diagnosis(
            // Only Apple, or a provider that imitates it, reports this, and Apple has two kinds of client IDs.
            policy.reportsRealUserStatus
                ? """
                The token is for \(near), but only \(own) is configured; one is probably the app's bundle ID, \
                the other the website's Services ID.
                """
                : "The token is for \(near), but only the similar \(own) is configured.",
            fix: "If \(near) is yours too, \(policy.audienceAdvice).")
    }

    /// The maximum number of the token's audiences that are compared: an attacker may have written them.
    private static let comparedAudiences = 20
    private static let longestCompared = 256

    /// The token's audience that most resembles a configured one with the same beginning.
    private func nearest(to found: [String]) -> (found: String, configured: String)? {
        let own = policy.audiences.map { (name: $0, folded: folded($0)) }
        var nearest: (found: String, configured: String, length: Int)?
        for audience in found.lazy.filter({ $0.utf8.count <= Self.longestCompared }).prefix(Self.comparedAudiences) {
            let left = folded(audience)
            for (configured, right) in own where right.count <= Self.longestCompared {
                let length = zip(left, right).prefix { $0 == $1 }.count
                guard length >= 4, length > nearest?.length ?? 0 else { continue }
                // Google's client IDs all end alike, and differ at the beginning.
                let end = zip(left.dropFirst(length).reversed(), right.dropFirst(length).reversed())
                    .prefix { $0 == $1 }.count
                guard 2 * length >= min(left.count, right.count) - end else { continue }
                nearest = (audience, configured, length)
            }
        }
        return nearest.map { ($0.found, $0.configured) }
    }

    /// The bytes of a client ID, with ASCII letters in lower case.
    private func folded(_ text: String) -> [UInt8] { text.utf8.map(\.asciiLowercased) }

    // MARK: Authorized party

    /// Whether the party to which the token was issued may present it. The check is enabled only if the settings list
    /// authorized_parties.
    func authorizedParty(_ rejection: Rejection?) -> Check {
        let found = claims.text(.authorizedParty).map(Redaction.text)
        guard rejection != nil || !policy.authorizedParties.isEmpty else {
            return .notAsked(.authorizedParty, "The settings don't restrict azp (authorized_parties).", found: found)
        }
        return made(
            .authorizedParty, rejection,
            passed: found == nil ? "The token has no azp." : "authorized_parties lists the token's azp.",
            failed: partyDiagnosis, expected: Redaction.list(policy.authorizedParties), found: found)
    }

    private var partyDiagnosis: Diagnosis {
        let party = claims.text(.authorizedParty).map { ", " + Redaction.quoted($0) + "," } ?? ""
        return Diagnosis(
            "The token's azp\(party) is not an accepted party.",
            fix: "If it is your client ID, add it to authorized_parties of the provider \(policy.id).")
    }
}

extension ProviderPolicy {
    /// Whose audiences a token's are compared with.
    var audienceOwner: String {
        switch origin {
        case .entry: "the provider \(id)"
        case .line: "this issuer's line of the provider \(id)"
        case .connection: "the request's connection"
        }
    }

    /// Where they are written.
    fileprivate var audiencePlace: String {
        switch origin {
        case .entry: "the audiences of the provider \(id)"
        case .line: "this issuer's line in the issuers_file of the provider \(id)"
        case .connection: "the audience of the request's connection"
        }
    }

    /// How to accept an audience that is one's own: the end of a sentence.
    var audienceAdvice: String {
        origin == .connection ? "correct \(audiencePlace)" : "add it to \(audiencePlace)"
    }
}
