internal import IDToken

/// The nonces of one event loop's DPoP proofs. Confined to that loop.
struct LoopProofNonces {
    let all: ProofNonces
    /// Requests of the same second get the same nonce.
    private var made: (at: UnixTime, nonce: String)?

    init(_ all: ProofNonces) { self.all = all }

    /// - Returns: `nil` when out of memory, and if there are no keys.
    mutating func latest(at now: UnixTime) -> String? {
        if let made, made.at == now { return made.nonce }
        guard let nonce = try? all.nonce(at: now) else { return nil }
        made = (now, nonce)
        return nonce
    }
}
