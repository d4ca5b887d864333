internal import JSON

/// How many tokens got which verdict, since the process began: what the metrics count, for a person to look at.
struct Verdicts: Sendable {
    private let counts: [Count]

    private struct Count: Sendable {
        /// `nil` where no provider was found.
        let provider: String?
        /// `ok`, or the problem's code.
        let code: String
        let count: Int
    }

    /// - Parameter providerIDs: by number.
    init(_ metrics: LoopMetrics, _ providerIDs: [String]) {
        counts = metrics.verifications.map { verdict, count in
            Count(provider: verdict.provider.map { providerIDs[$0] }, code: verdict.code, count: count)
        }
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.objects("verdicts", counts) { json, each in
                json.member("provider", each.provider)
                json.member("code", each.code)
                json.member("count", Int64(each.count))
            }
        }
    }
}
