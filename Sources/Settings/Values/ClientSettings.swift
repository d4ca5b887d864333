package import Grants

/// A client's validated settings.
package struct ClientSettings: Sendable, Equatable {
    package var client: OAuthClient
    package var authentication: Authentication

    package init(client: OAuthClient, authentication: Authentication) {
        self.client = client
        self.authentication = authentication
    }

    /// How the client authenticates to the provider.
    package enum Authentication: Sendable, Equatable {
        case secret(file: String, sentIn: ClientCredential.SecretPlace)
        case apple(teamID: String, keyID: String, keyFile: String)
        case privateKeyJWT(keyID: String, keyFile: String, certificateFile: String?, audience: String)
        case none

        /// The files with secrets.
        package var secretFiles: [String] {
            switch self {
            case .secret(let file, _): [file]
            case .apple(_, _, let file), .privateKeyJWT(_, let file, _, _): [file]
            case .none: []
            }
        }
    }
}
