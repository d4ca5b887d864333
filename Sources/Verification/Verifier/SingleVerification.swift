package import HTTP
private import IDToken
private import JOSE
private import Keys
internal import NIOCore
package import NIOPosix

/// Verifies or explains one token in this process, without a listener, for the command line.
package struct SingleVerification: Sendable {
    private let providers: [Provider]
    private let policies: [ForwardAuthPolicy]
    private let loop: any EventLoop
    private let verifier: NIOLoopBound<RequestVerifier>
    private let keysTimeout: Interval

    /// The response that the service would send.
    package struct Answer: Sendable {
        /// One JSON object.
        package let text: [UInt8]
        /// Why the request or its token was rejected; `nil` if it was not.
        package let problem: Problem?

        fileprivate init(_ write: (inout JSONWriter) -> Void) {
            var json = JSONWriter()
            write(&json)
            text = json.bytes
            problem = nil
        }

        package init(_ problem: Problem) {
            var json = JSONWriter()
            var requestIDs = RequestIDs()
            problem.write(to: &json, requestID: requestIDs.makeID())
            text = json.bytes
            self.problem = problem
        }
    }

    /// Starts to fetch the providers' keys.
    ///
    /// - Parameters:
    ///   - policies: the forward-auth policies that requests may name.
    ///   - keysTimeout: how long to wait for keys.
    /// - Throws: an event loop error, or ``Rejection/cryptographyUnavailable`` when out of memory.
    package init(
        _ providers: [Provider], policies: [ForwardAuthPolicy], resources: [Resource], keysTimeout: Interval,
        maximumTokenLength: Int, on group: MultiThreadedEventLoopGroup
    ) async throws {
        let loop = group.next()
        let registry = try await ProviderRegistry().changed(to: providers, on: group)
        try await registry.startKeys(on: loop)
        self.providers = providers
        self.policies = policies
        self.loop = loop
        self.keysTimeout = keysTimeout
        verifier = try await loop.submit {
            let verifier = try IDTokenVerifier(maximumTokenLength: maximumTokenLength)
            return NIOLoopBound(
                RequestVerifier(registry, on: loop, by: verifier, resources: resources), eventLoop: loop)
        }.get()
    }

    /// The answer of `POST /v1/verify`.
    package func verify(_ request: VerifyRequest) async throws -> Answer {
        let deadline = SystemClocks.monotonic() + keysTimeout
        return try await onLoop { verifier in
            let verdict =
                switch verifier.verify(request, at: .now()) {
                case .decided(let verdict): verdict
                case .pending(let wait):
                    await verifier.verdict(after: wait, until: deadline) { verifier.verify(request, at: $0) }
                }
            return switch verdict {
            case .verified(let answer, _): Answer { answer.write(to: &$0) }
            case .refused(let problem, _): Answer(problem)
            }
        }
    }

    /// The answer of `POST /v1/explain`.
    package func explain(_ request: ExplainRequest) async throws -> Answer {
        let deadline = SystemClocks.monotonic() + keysTimeout
        return try await onLoop { await answer(request, by: $0, until: deadline) }
    }

    private func answer(
        _ request: ExplainRequest, by verifier: RequestVerifier, until deadline: MonotonicTime
    ) async -> Answer {
        do throws(Problem) {
            let forwardAuth = ForwardAuth(policies, by: verifier, nil)
            let explain = try verifier.explanation(of: request, forwardAuth, until: deadline)
            let answer = try await explain().answer.get()
            return Answer { answer.write(to: &$0) }
        } catch {
            return Answer(error)
        }
    }

    private func onLoop(_ operation: @escaping @Sendable (RequestVerifier) async -> Answer) async throws -> Answer {
        try await loop.flatSubmit { [loop, verifier] in
            let verifier = verifier.value
            return LoopExecutor(loop).future { await operation(verifier) }
        }.get()
    }

    /// Readable messages about the providers whose keys could not be fetched.
    package func keyFailures() async throws -> [String] {
        var failures: [String] = []
        for provider in providers {
            switch provider.keys {
            case .store(let store):
                guard let failure = try await store.status().get().lastFailure else { continue }
                failures.append(Self.message(failure, provider.policy.id))
            case .pool(let pool):
                failures += try await pool.summary().get().failing.compactMap { issuer, status in
                    status.lastFailure.map { Self.message($0, "\(provider.policy.id), issuer \(issuer),") }
                }
            }
        }
        return failures
    }

    private static func message(_ failure: FetchFailure, _ whose: String) -> String {
        "The keys of \(whose) can't be fetched (\(failure.phase.rawValue)): \(failure.message)."
    }

    /// Stops fetching keys.
    package func stop() { for provider in providers { provider.keys.stop() } }
}
