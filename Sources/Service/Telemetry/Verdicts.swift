private import IDToken
internal import JOSE
internal import SignIns
internal import Verification

/// The numbers of tokens and sign-ins by verdict since the process started. Shows operators the same numbers as the
/// metrics.
struct Verdicts: Sendable {
    private let counts: [Count]
    private let begun: [Count]
    private let finished: [Count]
    /// By kind, where there is one; `nil` if no provider's notifications are accepted.
    private let notifications: [(kind: String?, count: Count)]?
    /// `nil` if no provider's access tokens are verified.
    private let accessTokens: [Count]?
    /// `nil` if there are no policies.
    private let forwardAuth: [(label: LoopMetrics.PolicyLabel, count: Int)]?
    /// One per event loop; empty if nothing is single-use.
    private let stores: [StoreStatus]

    private struct Count: Sendable {
        /// `nil` if no provider was found.
        let provider: String?
        /// `ok`, or the problem's code.
        let code: String
        let count: Int

        func write(to json: inout JSONWriter) {
            json.member("provider", provider)
            json.member("code", code)
            json.member("count", Int64(count))
        }
    }

    /// - Parameter providerIDs: indexed by number.
    init(
        _ metrics: LoopMetrics, _ stores: [StoreStatus], _ providerIDs: [String], _ features: ProviderFeatures,
        answersGateways: Bool = false
    ) {
        func counts(_ counter: Counter<LoopMetrics.VerdictLabel>) -> [Count] {
            counter.map { verdict, count in
                Count(provider: verdict.provider.map { providerIDs[$0] }, code: verdict.code, count: count)
            }
        }
        self.counts = counts(metrics.verifications)
        begun = metrics.signIns.begun.map { Count(provider: providerIDs[$0], code: "begun", count: $1) }
        finished = counts(metrics.signIns.finished)
        notifications =
            !features.acceptsNotifications
            ? nil
            : metrics.notifications.map { label, count in
                let provider = label.provider.map { providerIDs[$0] }
                return (label.kind?.rawValue, Count(provider: provider, code: label.code, count: count))
            }
        accessTokens = features.acceptsAccessTokens ? counts(metrics.accessTokens) : nil
        forwardAuth = answersGateways ? Array(metrics.forwardAuth) : nil
        self.stores = stores
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.objects("verdicts", counts) { $1.write(to: &$0) }
            if let notifications {
                json.objects("notifications", notifications) { json, each in
                    json.member("provider", each.count.provider)
                    json.member("kind", each.kind)
                    json.member("code", each.count.code)
                    json.member("count", Int64(each.count.count))
                }
            }
            if let accessTokens {
                json.objects("access_tokens", accessTokens) { $1.write(to: &$0) }
            }
            if let forwardAuth {
                json.objects("forward_auth", forwardAuth) { json, each in
                    json.member("policy", each.label.policy)
                    json.member("code", each.label.code)
                    json.member("count", Int64(each.count))
                }
            }
            guard let health = stores.map(\.health).max() else { return }
            json.objects("sign_ins", begun + finished) { json, each in
                json.member("provider", each.provider)
                json.member("outcome", each.code)
                json.member("count", Int64(each.count))
            }
            json.object("store") { json in
                json.member("state", health.rawValue)
                json.member("entries", stores.compactMap(\.entries).max().map(Int64.init))
            }
        }
    }
}
