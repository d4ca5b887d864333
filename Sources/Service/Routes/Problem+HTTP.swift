internal import NIOHTTP1
internal import Verification

/// HTTP responses for problems.
extension Problem {
    var responseStatus: HTTPResponseStatus { HTTPResponseStatus(statusCode: status) }

    /// Additional header fields.
    var headers: [(name: String, value: String)] {
        switch self {
        case .methodNotAllowed(let allow): [("Allow", allow)]
        case .callerUnauthenticated: [("WWW-Authenticate", "Bearer")]
        case .keysUnavailable(let seconds), .providerUnavailable(let seconds, _): [("Retry-After", String(seconds))]
        case .storeUnavailable, .overloaded, .shuttingDown: [("Retry-After", "1")]
        default: []
        }
    }
}
