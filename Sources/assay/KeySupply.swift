import IDToken
import KeySource
import Settings

/// Where a provider's keys are, as those who fetch them are told.
enum KeySupply {
    case file(path: String)
    case location(ProviderKeyFetcher.Location, fallbackFile: String?)

    init(_ provider: ProviderSettings) {
        switch provider.keys {
        case .file(let path): self = .file(path: path)
        case .jwksURI(let address, let fallbackFile):
            self = .location(.jwks(address: address), fallbackFile: fallbackFile)
        case .certificates(let address, let fallbackFile):
            self = .location(.certificates(address: address), fallbackFile: fallbackFile)
        case .discovery(let url, let documentIssuer, let fallbackFile):
            let issuer = provider.policy.issuer
            self = .location(
                .discovery(
                    address: url ?? ProviderMetadata.address(forIssuer: issuer), issuer: documentIssuer ?? issuer,
                    readsAlgorithms: provider.readsAlgorithms), fallbackFile: fallbackFile)
        }
    }
}
