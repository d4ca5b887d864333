private import HTTP
internal import IDToken
internal import Keys

extension RemoteKeySet {
    /// How keys are fetched and kept.
    public struct Options: Sendable, Equatable {
        /// How long keys are used after their lifetime while the provider can't be reached.
        public var staleFor = Duration.seconds(24 * 3600)
        /// An existing directory that nobody else can write to, in which the last good keys are kept across restarts;
        /// `nil` for none. Key sets of different issuers may share it.
        public var cacheDirectory: String?
        /// A PEM file with CA certificates to trust in addition to the system's.
        public var caFile: String?
        /// Addresses outside the public Internet to which connections may be made, such as `10.0.0.0/8`.
        public var allowedAddresses: [String] = []
        /// Whether `http` is allowed, for tests.
        public var allowsHTTP = false
        /// Whether keys of `assay dev` are accepted, for tests. Everywhere else, they are skipped.
        public var acceptsDevelopmentKeys = false
        /// The variables among which `HTTPS_PROXY` and `NO_PROXY` are read, usually those of the process; empty: no
        /// proxy is used.
        public var environment: [String: String] = [:]

        public init() {}
    }
}

extension RemoteKeySet.Options {
    func networkRules() throws(RemoteKeySetError) -> NetworkRules {
        var rules = NetworkRules()
        rules.allowHTTP = allowsHTTP
        rules.acceptsDevelopmentKeys = acceptsDevelopmentKeys
        rules.caFile = caFile
        for text in allowedAddresses {
            guard let block = AddressBlock(text) else {
                throw RemoteKeySetError(
                    "allowedAddresses has an entry that is not an address or a block like 10.0.0.0/8")
            }
            rules.allowedAddresses.append(block)
        }
        return rules
    }

    func proxy() throws(RemoteKeySetError) -> ProxyEnvironment? {
        do throws(FetchFailure) {
            return try ProxyEnvironment(environment)
        } catch {
            throw RemoteKeySetError(error.message)
        }
    }

    /// The name of the file for an issuer. The file itself says which issuer it belongs to.
    func cacheName(of issuer: String) -> String {
        String(
            issuer.lazy.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") || $0 == "/" }
                .map { $0 == "/" ? "_" : $0 }.suffix(128))
    }
}

extension KeyLocation.Network {
    /// - Throws: ``RemoteKeySetError`` if nothing can be fetched from there.
    init(
        _ keys: PublishedKeys, issuer: String, readsAlgorithms: Bool, under rules: NetworkRules
    ) throws(RemoteKeySetError) {
        switch keys {
        case .discovery(let url, let documentIssuer):
            let issuer = documentIssuer ?? issuer
            guard url != nil || IssuerTemplate(issuer) == nil else {
                throw RemoteKeySetError("the issuer is a template; give the URL of the discovery document")
            }
            self = .discovery(
                address: url ?? ProviderMetadata.address(forIssuer: issuer), issuer: issuer,
                readsAlgorithms: readsAlgorithms)
        case .jwkSet(let url): self = .jwkSet(address: url)
        case .certificates(let url): self = .certificates(address: url)
        case .publicKeys(let url?): self = .publicKeys(address: url)
        case .publicKeys(nil): throw RemoteKeySetError("the address of the provider's public keys is not known")
        }
        do throws(FetchFailure) {
            _ = try rules.url(address)
        } catch {
            throw RemoteKeySetError("the address of the keys can't be used: \(error.message)")
        }
    }

    /// Of the first document, with a `kid` in place of its placeholder.
    private var address: String {
        switch self {
        case .discovery(let address, _, _, _), .jwkSet(let address), .certificates(let address): address
        case .publicKeys(let template): template.replacing(Self.keyIDPlaceholder, with: "kid")
        }
    }
}

extension Interval {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // Far below the values at which arithmetic would overflow.
        let bound: Int64 = 1 << 50
        let whole = overflow ? bound : milliseconds + attoseconds / 1_000_000_000_000_000
        self.init(milliseconds: min(max(whole, 0), bound))
    }
}
