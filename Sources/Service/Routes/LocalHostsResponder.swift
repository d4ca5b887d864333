internal import HTTP
internal import Verification

/// Serves the service listener of `assay dev`: refuses requests for a host name that someone could register.
///
/// It is around the usual responder, so that requests cost nothing where there is no such rule.
final class LocalHostsResponder: HTTPResponder {
    private let responder: ServiceResponder

    init(_ responder: ServiceResponder) { self.responder = responder }

    var isStopping: Bool { responder.isStopping }

    func route(_ head: RequestHead) -> HeadRouting { responder.route(head) }

    func respond(to request: FailedRequest) -> HTTPResponse { responder.respond(to: request) }

    func respond(to request: HTTPRequest) -> HTTPReply {
        let route = Route(request.routing)
        // Gateways ask about requests for their own, public hosts, and so do clients for a resource's metadata.
        guard request.head.fields.isForPublicHost, route != .forwardAuth, route != .wellKnownMetadata else {
            return responder.respond(to: request)
        }
        let service = responder.service
        let problem = Problem.requestInvalid(
            "Host names a public host, and a page on the Internet could send this; use localhost, an IP address, or a name without a dot or in .test or .internal."
        )
        return .now(service.end(service.begin(route, request, on: .service), problem))
    }
}

@available(*, unavailable) extension LocalHostsResponder: Sendable {}
