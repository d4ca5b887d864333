package import HTTPListener
private import IDToken
private import KeySource
private import NIOCore
package import NIOPosix

extension AssayServer {
    /// A call that can be answered without a listener.
    package enum SingleCall {
        case verify, explain
    }

    /// What came of a single call.
    package struct SingleAnswer: Sendable {
        package let response: HTTPResponse
        /// For people: of each provider whose keys could not be fetched, why.
        package let keyFailures: [String]
    }

    /// Answers one call without a listener, just as the service would: for the command line.
    ///
    /// - Parameter body: the request's JSON.
    /// - Throws: an error of the event loop's.
    package static func answer(
        _ call: SingleCall, _ body: [UInt8], _ settings: ServiceSettings, providers: [Provider],
        on group: MultiThreadedEventLoopGroup
    ) async throws -> SingleAnswer {
        let loop = group.next()
        var settings = settings
        settings.loggedRequests = LoggedRequests(.none)
        settings.callerKeys = CallerKeys(digests: [])
        settings.operatorKeys = CallerKeys(digests: [])
        let sink = LogSink(isDiscarding: true)
        let roster = try await Roster().changed(to: providers, on: group)
        try await startKeys(providers.map(\.keys), on: loop)
        let services = try await PerLoop(on: group) { [settings] loop in
            try ServiceLoop(on: loop, settings, roster, sink)
        }
        let response = try await loop.flatSubmit { () -> EventLoopFuture<HTTPResponse> in
            let service = services[loop]
            let (responder, path): (any HTTPResponder, String) =
                switch call {
                case .verify: (ServiceResponder(service), "/v1/verify")
                case .explain:
                    (
                        AdminResponder(
                            service, process: ServiceProcess(version: "", startedAtUnixSeconds: 0),
                            scrape: { loop.makeSucceededFuture([]) },
                            verdicts: { loop.makeSucceededFuture(Verdicts(LoopMetrics(), [])) },
                            history: { _ in KeyHistory() }), "/v1/explain"
                    )
                }
            let head = RequestHead(.post, path, ["Content-Type": "application/json"])
            switch responder.respond(to: HTTPRequest(head: head, body: body)) {
            case .now(let response): return loop.makeSucceededFuture(response)
            case .later(_, let begin): return begin()
            }
        }.get()
        var failures: [String] = []
        for provider in providers {
            if let failure = try await provider.keys.status().get().lastFailure {
                let phase = failure.phase.rawValue
                failures.append("The keys of \(provider.policy.id) can't be fetched (\(phase)): \(failure.message).")
            }
            provider.keys.stop()
        }
        await sink.close()
        return SingleAnswer(response: response, keyFailures: failures)
    }
}
