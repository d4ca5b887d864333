private import Grants
private import IDToken
package import JSON

extension Problem {
    /// Writes the problem as a JSON object.
    ///
    /// - Parameter spent: whether this call used something up, or may have; `nil` for calls that never do.
    package func write(to json: inout JSONWriter, requestID: String, spent: Bool? = nil) {
        json.beginObject()
        json.member("type", "urn:assay:problem:" + code)
        json.member("title", title)
        json.member("status", Int64(status))
        json.member("detail", detail)
        json.member("code", code)
        if let claim {
            json.member("claim", claim)
        }
        if let providerError {
            json.member("provider_error", providerError.rawValue)
        }
        if let context {
            json.member("context", context)
        }
        if let spent {
            json.member("spent", spent)
        }
        json.member("request_id", requestID)
        json.endObject()
    }

    /// The claim that caused the rejection. The name is known from the code or the settings.
    var claim: String? {
        if case .rejected(let rejection, _) = self { rejection.claim?.string } else { nil }
    }

    /// The registered name of the provider's error, if that is the reason.
    private var providerError: OAuthErrorName? {
        switch self {
        case .grantInvalid(let name), .clientRejected(let name), .providerRefused(let name),
            .signInRefused(let name, _):
            name
        default: nil
        }
    }

    /// The sign-in's context, if the provider ended the sign-in in the browser. Not to be logged.
    private var context: String?? {
        switch self {
        case .signInDenied(let context), .signInRefused(_, let context): .some(context)
        default: nil
        }
    }
}
