// iOS: the `user` that the backend passes on to Assay, from what Apple gives the app.

import Foundation

/// Apple sends the name at a user's first sign-in only, so keep this until the backend has answered.
struct AppleUser: Codable, Equatable, Sendable {
    struct Name: Codable, Equatable, Sendable {
        var firstName: String?
        var lastName: String?
    }

    var name: Name

    /// `nil` if Apple sends no name: at every later sign-in, `fullName` is empty.
    init?(_ fullName: PersonNameComponents?) {
        guard let fullName, fullName.givenName != nil || fullName.familyName != nil else { return nil }
        name = Name(firstName: fullName.givenName, lastName: fullName.familyName)
    }
}
