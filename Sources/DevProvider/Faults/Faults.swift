/// A fault that a provider simulates until the fault is switched off.
enum Fault: String, CaseIterable {
    case down
    case slow
    case noKeys = "no_keys"
    case thinKeys = "thin_keys"
    case wrongIssuer = "wrong_issuer"
    case clockAhead = "clock_ahead"
    case clockBehind = "clock_behind"
    case expiredTokens = "expired_tokens"
    case spentCodes = "spent_codes"
    case refusedClients = "refused_clients"
    case proofNonces = "dpop_nonces"

    /// The faulty behaviour, in a few words.
    var title: String {
        switch self {
        case .down: "Answer 503"
        case .slow: "Answer slowly"
        case .noKeys: "Publish no keys"
        case .thinKeys: "Leave the current key out of the key set"
        case .wrongIssuer: "Name another issuer"
        case .clockAhead: "Set the clock ahead"
        case .clockBehind: "Set the clock back"
        case .expiredTokens: "Issue expired tokens"
        case .spentCodes: "Issue codes that have already been used"
        case .refusedClients: "Refuse the client's credentials"
        case .proofNonces: "Demand a nonce in each DPoP proof"
        }
    }

    /// Which problem code or alert it causes.
    var consequence: String {
        switch self {
        case .down:
            "A code can't be exchanged: provider_unavailable. Tokens still verify with the cached keys. Alert: AssayKeyFetchesFailing"
        case .slow: "Longer than 5 s: provider_unavailable for codes, AssayKeyFetchesFailing for keys"
        case .noKeys: "The set is refused, and the cached keys stay in use: AssayKeyFetchesFailing"
        case .thinKeys: "The cached key stays in use for a while: AssayKeysOmitted. After a rotation: key_not_found"
        case .wrongIssuer:
            "issuer_mismatch, or provider_unknown if the request names no provider. Discovery: AssayKeyFetchesFailing"
        case .clockAhead: "More than clock_skew (60 s): token_not_yet_valid"
        case .clockBehind: "Longer than a token lives: token_expired"
        case .expiredTokens: "token_expired"
        case .spentCodes: "grant_invalid, and the sign-in is spent"
        case .refusedClients: "client_rejected, AssayClientRejected"
        case .proofNonces: "None: Assay repeats the call with the nonce. Calls of your own must, too"
        }
    }

    /// The default for `seconds`; `nil` if the fault has no such parameter.
    var usualSeconds: Int64? {
        switch self {
        case .slow: 7
        case .clockAhead: 600
        case .clockBehind: 90_000
        default: nil
        }
    }

    /// One year, longer than any fault needs to take effect.
    static let maximumSeconds: Int64 = 31_536_000
}

/// The faults of one provider that are switched on.
struct Faults {
    private(set) var active: [Fault: Int64] = [:]

    func has(_ fault: Fault) -> Bool { active[fault] != nil }

    /// How far the provider's clock is ahead of ours.
    var clockOffset: Int64 { (active[.clockAhead] ?? 0) - (active[.clockBehind] ?? 0) }

    /// How long the provider waits before it answers.
    var delaySeconds: Int64 { active[.slow] ?? 0 }

    /// - Parameter seconds: `nil` for the fault's default.
    mutating func set(_ fault: Fault, on: Bool, seconds: Int64?) {
        active[fault] = on ? seconds ?? fault.usualSeconds ?? 0 : nil
    }

    mutating func reset() { active = [:] }
}
