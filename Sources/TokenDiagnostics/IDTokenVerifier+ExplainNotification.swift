package import IDToken
private import JOSE
package import Notifications

extension IDTokenVerifier {
    /// Explains why a string is not a notification.
    ///
    /// - Parameter rejection: the error with which it was refused.
    package func explain(malformedNotification text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        Explanation(
            [MalformedToken(text, as: .notification).check(rejection)], of: CheckName.ofNotifications,
            notReached: "the token can't be read", validSummary: "")
    }

    /// Explains why a notification matches no provider with `notifications`.
    ///
    /// - Parameters:
    ///   - policies: the policies of all providers with `notifications`.
    ///   - now: the current time.
    package func explain(
        notification token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        var check = Check.providerUnknown(token, policies)
        let cause = Explanation.Cause(check)
        if token.unverifiedIssuer != nil { check.explanation += Explanation.unverifiedNote }
        return Explanation(
            [.wellFormed, check], of: CheckName.ofNotifications, notReached: "there is no provider whose rules apply",
            validSummary: "", likelyCause: cause, contents: contents(of: token, now: now))
    }

    /// Explains the result of verifying a notification. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - isNamed: whether the request named the provider; otherwise, the token's issuer did.
    ///   - others: the policies of all other providers with `notifications`.
    ///   - now: the current time.
    package func explain(
        notification token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy,
        _ rules: NotificationRules, isNamed: Bool, others: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        let recorder = CheckRecorder()
        let results: NotificationCheckResults
        do throws(Rejection) {
            results = try jwsVerifier.runNotificationChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy, rules,
                now: now, watchedBy: recorder)
        } catch {
            // The recorder never ends a verification.
            return explain(malformedNotification: [], error)
        }
        let descriptions = CheckDescriptions(
            token: token, kind: .notification(rules), policy: policy, parameters: VerificationParameters(),
            usesNoncesOnce: false, keys: keys, others: others, accessTokens: nil, now: now,
            checker: jwsVerifier.checker, jws: results.jws, nonceMatch: nil)
        return Explanation(recorder.outcomes, descriptions, isNamed: isNamed, contents: contents(of: token, now: now))
    }
}
