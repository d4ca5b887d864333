private import JOSE

/// A request to Apple's endpoint for users whose app moves to another team, without client authentication.
///
/// Source: TN3159; developer.apple.com, "Transferring your apps and users to another team", "Bringing new apps and
/// users into your team".
package enum UserMigrationRequest: Sendable, Equatable {
    /// Requests a user's transfer identifier, as the team that transfers the app.
    case generate(subject: String, recipientTeamID: String)
    /// Redeems a transfer identifier, as the team that received the app.
    case redeem(transferSubject: String)
}

/// Apple's response for one user.
package enum UserMigration: Sendable, Equatable {
    case transferSubject(String)
    /// - Parameter email: the new relay address; `nil` for a user who does not hide the address.
    case user(subject: String, email: String?, isPrivateEmail: Bool?)
}

extension EndpointAnswer {
    /// The response of Apple's endpoint for users whose app moves to another team.
    ///
    /// - Throws: ``CallFailure``. `refused` is about this user, except for `invalid_token`,
    ///   `server_error`, `temporarily_unavailable` and `slow_down`.
    package func userMigration(_ request: UserMigrationRequest) throws(CallFailure) -> UserMigration {
        let answer = try readable()
        if let name = answer.errorName { throw CallFailure(name) }
        guard status == 200 else { throw .answerInvalid(.status(status)) }
        switch request {
        case .generate:
            return .transferSubject(try answer.required(.transferSubject))
        case .redeem:
            let subject = try answer.required(.subject)
            // A boolean here, but a string in Apple's ID Tokens.
            let isPrivateEmail: Bool? =
                switch answer["is_private_email"] {
                case let value? where value.bool != nil: value.bool
                case let value?: value.string.map { $0 == "true" }
                case nil: nil
                }
            return .user(subject: subject, email: try answer.text(.email), isPrivateEmail: isPrivateEmail)
        }
    }
}
