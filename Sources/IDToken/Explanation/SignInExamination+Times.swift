extension SignInExamination {
    private var skew: Int64 { policy.clockSkewSeconds }

    private func shown(_ claim: ClaimName) -> String? {
        guard let time = try? claims.time(claim) else { return nil }
        return ShownText.time(time, now: now)
    }

    /// What a time that must not lie in the future may be at most.
    private var latest: String { "\(ShownText.time(now.advanced(bySeconds: skew))) or before (now, and clock_skew)" }

    /// How far the provider's clock is from this one, for a failure that clocks can cause.
    private var clockNote: String {
        guard let offset = keys?.clockOffsetSeconds, offset != 0 else { return "" }
        return "; the provider's own clock is \(ShownText.duration(offset)) \(offset > 0 ? "ahead of" : "behind") it"
    }

    /// Whether the clocks differ by what a time is off.
    ///
    /// - Parameter isAhead: whether the provider's would have to be ahead of this one.
    private func isExplainedByClocks(_ seconds: Int64, isAhead: Bool) -> Bool {
        guard let offset = keys?.clockOffsetSeconds, (offset > 0) == isAhead else { return false }
        return offset.magnitude > UInt64(clamping: skew) && offset.magnitude + 5 >= seconds.magnitude
    }

    func expiry() -> Check {
        let expected = "after \(ShownText.time(now.advanced(bySeconds: -skew))) (now, less clock_skew)"
        switch result(of: { () throws(Rejection) in try checkExpiration(claims, policy, now: now) }) {
        case .success(let end):
            let left = end.seconds(since: now)
            return .passed(
                .expiry,
                left > 0
                    ? "The token is good for \(ShownText.duration(left)) more."
                    : "The token expired \(ShownText.duration(left)) ago, within clock_skew (\(skew) s).",
                expected: expected, found: ShownText.time(end, now: now))
        case .failure(let rejection):
            return .failed(
                .expiry, rejection, Diagnosis(rejection, otherwise: expiryDiagnosis), expected: expected,
                found: shown(.expiration))
        }
    }

    private var expiryDiagnosis: Diagnosis {
        let end = (try? claims.time(.expiration)) ?? now
        let ago = now.seconds(since: end)
        return Diagnosis(
            "The token expired \(ShownText.duration(ago)) ago by this clock\(clockNote).",
            fix: isExplainedByClocks(ago, isAhead: false)
                ? "Set this machine's clock (NTP); the difference is more than clock_skew (\(skew) s) allows."
                : "Have the user sign in again, and verify tokens when they come: an ID Token is no session.")
    }

    func notBefore() -> Check {
        let expected = latest
        let found = shown(.notBefore)
        switch result(of: { () throws(Rejection) in try checkNotBefore(claims, policy, now: now) }) {
        case .success(nil): return .passed(.notBefore, "The token has no nbf, and needs none.", expected: expected)
        case .success:
            return .passed(.notBefore, "The token is valid already.", expected: expected, found: found)
        case .failure(let rejection):
            return .failed(
                .notBefore, rejection, Diagnosis(rejection, otherwise: futureDiagnosis(.notBefore, "becomes valid")),
                expected: expected, found: found)
        }
    }

    func issuedAt() -> Check {
        let expected = latest
        switch result(of: { () throws(Rejection) in try checkIssuedAt(claims, policy, now: now) }) {
        case .success(let time):
            return .passed(
                .issuedAt,
                """
                The token was issued \(ShownText.duration(now.seconds(since: time))) \
                \(time > now ? "ahead, within clock_skew (\(skew) s)" : "ago").
                """,
                expected: expected, found: ShownText.time(time, now: now))
        case .failure(let rejection):
            return .failed(
                .issuedAt, rejection, Diagnosis(rejection, otherwise: futureDiagnosis(.issuedAt, "was issued")),
                expected: expected, found: shown(.issuedAt))
        }
    }

    private func futureDiagnosis(_ claim: ClaimName, _ verb: String) -> Diagnosis {
        let ahead = ((try? claims.time(claim)) ?? now).seconds(since: now)
        // A time in milliseconds lies some 50,000 years ahead.
        if ahead > 1_000_000_000_000 {
            return Diagnosis(
                "The token's \(claim.string) is a time in milliseconds, and seconds are due.",
                fix: "Whoever issues the token has to write seconds.")
        }
        return Diagnosis(
            "The token \(verb) \(ShownText.duration(ahead)) in the future by this clock\(clockNote).",
            fix: isExplainedByClocks(ahead, isAhead: true)
                ? "Set this machine's clock (NTP); the difference is more than clock_skew (\(skew) s) allows."
                : "See that this machine's clock and the provider's are right; clock_skew allows \(skew) s.")
    }

    func tokenAge() -> Check {
        guard let maximumAge = policy.maximumTokenAgeSeconds else {
            return .notAsked(.tokenAge, "The settings don't limit a token's age (max_token_age).")
        }
        guard let issuedAt = readable(.issuedAt) else {
            return .notReached(.tokenAge, "Not reached: the token's iat can't be read.")
        }
        let age = ShownText.duration(now.seconds(since: issuedAt))
        let expected = "at most \(maximumAge) s, and \(skew) s of clock_skew"
        switch result(of: { () throws(Rejection) in try checkTokenAge(issuedAt: issuedAt, policy, now: now) }) {
        case .success: return .passed(.tokenAge, "The token is not too old.", expected: expected, found: age)
        case .failure(let rejection):
            return .failed(
                .tokenAge, rejection,
                Diagnosis(
                    """
                    The token was issued \(age) ago, and max_token_age of the provider \(policy.id) is \
                    \(maximumAge) s.
                    """,
                    fix: "Have the user sign in again, or raise max_token_age."), expected: expected, found: age)
        }
    }

    func authTime() -> Check {
        let found = shown(.authTime)
        let maximumAge = expectations.maximumAuthenticationAgeSeconds
        let standIn = readable(.issuedAt)
        guard standIn != nil || maximumAge == nil || claims.mentions(.authTime) else {
            return .notReached(.authTime, "Not reached: the token has neither auth_time nor an iat that can be read.")
        }
        let outcome = result { () throws(Rejection) in
            try checkAuthenticationAge(
                claims, policy, atMost: maximumAge, issuedAt: standIn ?? now, now: now)
        }
        let expected = maximumAge.map { "at most \($0) s ago, and \(skew) s of clock_skew" }
        switch outcome {
        case .success where maximumAge == nil:
            return .notAsked(.authTime, "The request gives no max_age.", found: found)
        case .success:
            return .passed(
                .authTime, "The user authenticated recently enough.", expected: expected,
                found: found ?? shown(.issuedAt))
        case .failure(.claimInvalid) where found != nil:
            return .failed(
                .authTime, .claimInvalid(.authTime),
                Diagnosis(
                    "The user authenticated in the future by this clock\(clockNote), which proves nothing.",
                    fix: "See that this machine's clock and the provider's are right."), expected: expected,
                found: found)
        case .failure(let rejection):
            let time = readable(.authTime) ?? standIn ?? now
            let source = found == nil ? "iat, since there is no auth_time" : "auth_time"
            return .failed(
                .authTime, rejection,
                Diagnosis(
                    rejection,
                    otherwise: Diagnosis(
                        """
                        The user authenticated \(ShownText.duration(now.seconds(since: time))) ago (\(source)), \
                        and the request's max_age is \(maximumAge ?? 0) s.
                        """,
                        fix:
                            """
                            Send the user to the provider with max_age or prompt=login, so that it asks for \
                            authentication anew.
                            """
                    )), expected: expected, found: found ?? shown(.issuedAt))
        }
    }

    private func readable(_ claim: ClaimName) -> UnixTime? { (try? claims.time(claim)) ?? nil }
}
