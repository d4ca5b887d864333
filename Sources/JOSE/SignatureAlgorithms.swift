/// A set of signature algorithms.
///
/// One bit for each: a `Set` hashed the algorithm's name at each of two lookups per token.
public struct SignatureAlgorithms: Sendable, Hashable {
    private var bits: UInt16

    public init() { bits = 0 }

    public init(_ algorithms: some Sequence<SignatureAlgorithm>) {
        bits = algorithms.reduce(0) { $0 | $1.bit }
    }

    /// Ignores names of unsupported algorithms.
    package init(naming names: some Sequence<String>) {
        self.init(names.lazy.compactMap(SignatureAlgorithm.init(rawValue:)))
    }

    /// All supported algorithms.
    public static let all = SignatureAlgorithms(SignatureAlgorithm.allCases)

    public var isEmpty: Bool { bits == 0 }

    public func contains(_ algorithm: SignatureAlgorithm) -> Bool { bits & algorithm.bit != 0 }

    /// The algorithms that are in both sets.
    public func intersection(_ other: Self) -> Self {
        var common = self
        common.bits &= other.bits
        return common
    }

    public mutating func formUnion(_ other: Self) { bits |= other.bits }

    /// The algorithms, in the order of ``SignatureAlgorithm/allCases``.
    public var elements: [SignatureAlgorithm] { SignatureAlgorithm.allCases.filter(contains) }

    /// The names of the algorithms, in the same order.
    package var names: [String] { elements.map(\.rawValue) }
}

extension SignatureAlgorithms: ExpressibleByArrayLiteral {
    public init(arrayLiteral algorithms: SignatureAlgorithm...) { self.init(algorithms) }
}

extension SignatureAlgorithm {
    fileprivate var bit: UInt16 {
        let index: UInt16 =
            switch self {
            case .rs256: 0
            case .rs384: 1
            case .rs512: 2
            case .ps256: 3
            case .ps384: 4
            case .ps512: 5
            case .es256: 6
            case .es384: 7
            case .es512: 8
            case .edDSA: 9
            case .ed25519: 10
            case .ed448: 11
            }
        return 1 << index
    }
}
