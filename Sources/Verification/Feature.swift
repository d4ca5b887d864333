/// A part of the service whose paths do not exist until the settings turn it on.
package enum Feature: Sendable, CaseIterable {
    case signIns, clients, notifications, accessTokens, forwardAuth

    /// What is off, and which setting turns it on.
    var absence: String {
        switch self {
        case .signIns: "Sign-ins are off; add sign_ins to the settings."
        case .clients: "No provider has OAuth clients; add clients to a provider in the settings."
        case .notifications:
            "No provider accepts notifications; list the kinds that one sends under its setting notifications."
        case .accessTokens: "No provider verifies access tokens; add one with tokens: access to the settings."
        case .forwardAuth: "No gateway may ask; add policies under forward_auth in the settings."
        }
    }
}
