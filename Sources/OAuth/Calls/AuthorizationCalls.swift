package import HTTP
package import IDToken
package import Keys
package import NIOCore
private import OpenSSL

/// Authorization requests that are signed, or sent to the provider before the browser.
extension ProviderCalls {
    /// Signs an authorization request.
    ///
    /// - Parameters:
    ///   - signingKey: the key of `client_keys` that signs if the client has no key of its own; `nil`: the first.
    ///   - issuer: the provider's.
    /// - Returns: never fails, and completes on ``loop``.
    package func requestObject(
        _ parameters: AuthorizationParameters, of clientID: String, by client: CallingClient, signingKey: String?,
        for issuer: String, now: UnixTime
    ) -> EventLoopFuture<Result<[UInt8], RequestObjectFault>> {
        loop.submit { [self] in
            guard let key = requestKey(of: client, signingKey) else { return .failure(.noKey) }
            do throws(OpenSSLError) {
                return .success(
                    try RequestObject.make(parameters, of: clientID, for: issuer, signedBy: key, now: now))
            } catch {
                return .failure(.cryptographyUnavailable)
            }
        }
    }

    /// Sends an authorization request to the provider, once.
    ///
    /// - Parameter deadline: for the whole call.
    /// - Returns: never fails, and completes on ``loop`` by the deadline.
    /// - Source: RFC 9126, section 2.
    package func push(
        _ request: PushedAuthorization, by client: CallingClient, at address: FetchURL, _ slot: CallSlot,
        until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<PushedReference>> {
        let call = Call(.pushedRequest, at: address, until: deadline, slot) { authenticator, now throws(OpenSSLError) in
            OutgoingMessage(try authenticator.authenticate(request, now: now))
        }
        return perform(call, by: client) { answer, _ throws(CallFailure) in try answer.pushed() }
    }

    /// The key that signs a client's requests: its own, or else one of `client_keys`.
    private func requestKey(of client: CallingClient, _ name: String?) -> ClientSigningKey? {
        switch client {
        case .configured(let id): state.value.authenticators[id]?.requestKey ?? ownKeys.signing(name)
        case .named: state.value.assertionKey?.requestKey ?? ownKeys.signing(nil)
        }
    }
}

/// Why an authorization request was not signed.
package enum RequestObjectFault: Error, Sendable {
    /// Neither the client nor `client_keys` has a key that signs.
    case noKey
    case cryptographyUnavailable
}
