package import HTTP
package import JOSE

extension KeySnapshot {
    /// The kind of fetch that could change the result of a verification with these keys; `nil` if none could.
    ///
    /// If a token names no key, all suitable keys are tried. If none verifies the token, the provider may have rotated
    /// its key: without a `kid`, the token does not show this. A provider may also replace the key that a token names,
    /// even with one of another type. If the algorithms come from the provider's own metadata, the provider may have
    /// started to use another one.
    ///
    /// - Parameters:
    ///   - error: why the signature was not verified.
    ///   - keyID: the token's `kid`.
    ///   - mayAllowAlgorithm: whether the token's algorithm is supported, and the provider's metadata decides whether it
    ///     is allowed.
    package func need(
        after error: JWSError, keyID: String?, mayAllowAlgorithm: Bool, at now: MonotonicTime
    ) -> KeyStore.StateMachine.FetchReason? {
        switch (error, keyID) {
        case (.keyNotFound, let keyID?) where !hasKey(keyID): .key(keyID)
        // The store would decide the same, but during a flood of forged tokens, each would cost a hop to the store's
        // loop.
        case (.keyNotFound, let keyID?), (.keyUnsuitable, let keyID?), (.signatureInvalid, let keyID?):
            isConfirmed(at: now) ? nil : .replacedKey(keyID)
        case (.keyNotFound, nil), (.keyUnsuitable, nil), (.signatureInvalid, nil): .newerKeys
        case (.algorithmNotAllowed, _): mayAllowAlgorithm ? .newerKeys : nil
        default: nil
        }
    }
}
