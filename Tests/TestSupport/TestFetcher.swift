import HTTP
import JOSE
package import Keys

/// A fetcher whose results are set by the test. Until an answer is set, fetches wait.
package actor TestFetcher: KeyFetching {
    package private(set) var calls = 0
    private var answer: Result<[TestKey], FetchFailure>?
    private var clockOffset: Int64?
    private var commonKeyID: String?
    package init() {}

    private var pending: [CheckedContinuation<Result<[TestKey], FetchFailure>, Never>] = []

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        calls += 1
        let result =
            if let answer { answer } else { await withCheckedContinuation { pending.append($0) } }
        let text = jwkSet(
            try result.get().map { key in
                key.jwk(commonKeyID.map { ["kid": .string($0)] } ?? [:])
            })
        return FetchedKeys(
            keys: try! JWKSet(text), text: text, algorithms: .all, source: .network,
            lifetime: nil, fetchedAtUnixSeconds: SystemClocks.unixSeconds(), clockOffsetSeconds: clockOffset)
    }

    /// How many seconds the provider's clock is ahead.
    package func set(clockOffset: Int64) { self.clockOffset = clockOffset }

    /// Publishes all its keys under this `kid`.
    package func publish(as keyID: String) { commonKeyID = keyID }

    /// Answers pending and later fetches; with `nil`, later fetches wait.
    package func answer(with result: Result<[TestKey], FetchFailure>?) {
        answer = result
        guard let result else { return }
        for continuation in pending { continuation.resume(returning: result) }
        pending = []
    }

    /// Returns once this many fetches have started.
    package func called(_ count: Int) async throws {
        try await eventually { calls >= count }
    }

    package func stop() { answer(with: .failure(FetchFailure(.connect, "the test is over"))) }
}
