internal import IDToken

extension CheckDescriptions {
    private var skew: Int64 { policy.clockSkewSeconds }

    private func readable(_ claim: ClaimName) -> UnixTime? { try? claims.time(claim) }

    private func shown(_ claim: ClaimName) -> String? { readable(claim).map { Redaction.time($0, now: now) } }

    /// The latest time that does not count as in the future.
    private var latest: String { "\(Redaction.time(now.advanced(bySeconds: skew))) or before (now, plus clock_skew)" }

    /// The difference between the provider's clock and this one, for failures that a wrong clock can cause.
    private var clockNote: String {
        guard let offset = keys?.clockOffsetSeconds, offset != 0 else { return "" }
        return ", which is \(Redaction.duration(offset)) \(offset > 0 ? "behind" : "ahead of") the provider's"
    }

    /// The fix if the difference between the clocks explains why a time check failed; otherwise `nil`.
    ///
    /// - Parameter isAhead: whether the provider's clock would have to be ahead of this one.
    private func clockFix(_ seconds: Int64, isAhead: Bool) -> String? {
        guard let offset = keys?.clockOffsetSeconds, (offset > 0) == isAhead,
            offset.magnitude > UInt64(clamping: skew), offset.magnitude + 5 >= seconds.magnitude
        else { return nil }
        return "Set this machine's clock (NTP); the difference is more than clock_skew (\(skew) s) allows."
    }

    func expiry(_ rejection: Rejection?) -> Check {
        let expected = "after \(Redaction.time(now.advanced(bySeconds: -skew))) (now, less clock_skew)"
        let left = (readable(.expiration) ?? now).seconds(since: now)
        return made(
            .expiry, rejection,
            passed: left > 0
                ? "The token expires in \(Redaction.duration(left))."
                : "The token expired \(Redaction.duration(left)) ago, within clock_skew (\(skew) s).",
            failed: expiryDiagnosis, expected: expected, found: shown(.expiration))
    }

    private var expiryDiagnosis: Diagnosis {
        let ago = now.seconds(since: readable(.expiration) ?? now)
        let renewal =
            switch kind {
            case .idToken:
                "Have the user sign in again. Verify tokens on arrival; don't use ID Tokens as a session."
            case .accessToken: "Have the client refresh the token, or the user sign in again."
            case .notification: "Look for a queue that delays notifications, and verify them on arrival."
            }
        return Diagnosis(
            "The token expired \(Redaction.duration(ago)) ago according to this machine's clock\(clockNote).",
            fix: clockFix(ago, isAhead: false) ?? renewal)
    }

    func notBefore(_ rejection: Rejection?) -> Check {
        let found = shown(.notBefore)
        return made(
            .notBefore, rejection,
            passed: found == nil
                ? "The token has no nbf, which is optional." : "The token is already valid: its nbf has passed.",
            failed: futureDiagnosis(.notBefore, "becomes valid"), expected: latest, found: found)
    }

    func issuedAt(_ rejection: Rejection?) -> Check {
        let age = now.seconds(since: readable(.issuedAt) ?? now)
        let distance = age < 0 ? "ahead, within clock_skew (\(skew) s)" : "ago"
        return made(
            .issuedAt, rejection, passed: "The token was issued \(Redaction.duration(age)) \(distance).",
            failed: futureDiagnosis(.issuedAt, "was issued"), expected: latest, found: shown(.issuedAt))
    }

    private func futureDiagnosis(_ claim: ClaimName, _ verb: String) -> Diagnosis {
        let ahead = (readable(claim) ?? now).seconds(since: now)
        // A time in milliseconds is about 50,000 years in the future.
        if ahead > 1_000_000_000_000 {
            return Diagnosis(
                "The token's \(claim.string) is a time in milliseconds, but seconds are expected.",
                fix: "The issuer must use seconds.")
        }
        return Diagnosis(
            "The token \(verb) \(Redaction.duration(ahead)) in the future according to this machine's clock\(clockNote).",
            fix: clockFix(ahead, isAhead: true)
                ?? "Check this machine's clock and the provider's; clock_skew allows \(skew) s.")
    }

    func tokenAge(_ rejection: Rejection?) -> Check {
        let maximumAge = policy.maximumTokenAgeSeconds ?? 0
        let age = Redaction.duration(now.seconds(since: readable(.issuedAt) ?? now))
        return made(
            .tokenAge, rejection, passed: "The token is not too old.",
            failed: Diagnosis(
                "The token was issued \(age) ago, but max_token_age of the provider \(policy.id) is \(maximumAge) s.",
                fix: "Have the user sign in again, or raise max_token_age."),
            expected: "at most \(maximumAge) s, plus \(skew) s of clock_skew", found: age)
    }

    func authTime(_ rejection: Rejection?) -> Check {
        let found = shown(.authTime)
        let maximumAge = parameters.maximumAuthenticationAgeSeconds
        let expected = maximumAge.map { "at most \($0) s ago, plus \(skew) s of clock_skew" }
        guard rejection != nil || maximumAge != nil else {
            return .notAsked(.authTime, "The request has no max_age.", found: found)
        }
        if let rejection, rejection == .claimInvalid(.authTime), found != nil {
            return .failed(.authTime, rejection, authenticatedInFuture, expected: expected, found: found)
        }
        let time = readable(.authTime) ?? readable(.issuedAt) ?? now
        let source = found == nil ? "iat, since there is no auth_time" : "auth_time"
        return made(
            .authTime, rejection,
            passed: found == nil
                ? "The token has no auth_time; its iat is recent enough, but does not prove when the user authenticated."
                : "The user authenticated recently enough.",
            failed: Diagnosis(
                """
                The user authenticated \(Redaction.duration(now.seconds(since: time))) ago (\(source)), \
                but the request's max_age is \(maximumAge ?? 0) s.
                """,
                fix: """
                    Send the user to the provider with max_age or prompt=login, so that the user has to \
                    authenticate again.
                    """),
            expected: expected, found: found ?? shown(.issuedAt))
    }

    func authenticatedAfter(_ rejection: Rejection?) -> Check {
        let claimed = shown(.authTime)
        let found = claimed ?? shown(.issuedAt)
        let expected = parameters.authenticatedAfter.map { "\(Redaction.time($0, now: now)) or after" }
        if let rejection, rejection == .claimInvalid(.authTime), claimed != nil {
            return .failed(.authenticatedAfter, rejection, authenticatedInFuture, expected: expected, found: found)
        }
        let source = claimed == nil ? "iat, since there is no auth_time" : "auth_time"
        return made(
            .authenticatedAfter, rejection, passed: "The user authenticated after their sessions were revoked.",
            failed: Diagnosis(
                "The user authenticated (\(source)) before the request's authenticated_after, when sessions were revoked.",
                fix: "Have the user sign in again, with max_age or prompt=login in the request to the provider."),
            expected: expected, found: found)
    }

    private var authenticatedInFuture: Diagnosis {
        Diagnosis(
            "The token's auth_time is in the future according to this machine's clock\(clockNote), so it can't be trusted.",
            fix: "Check this machine's clock and the provider's.")
    }
}
