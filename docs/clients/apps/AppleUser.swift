// iOS: the `user` that the backend passes on to Assay, from what Apple gives the app.

import Foundation

/// Apple tells the name at a person's first sign-in only, so keep this until the backend has answered.
struct AppleUser: Codable, Equatable, Sendable {
    struct Name: Codable, Equatable, Sendable {
        var firstName: String?
        var lastName: String?
    }

    var name: Name

    /// `nil` where Apple tells no name: at every later sign-in, `fullName` is there and empty.
    init?(_ fullName: PersonNameComponents?) {
        guard let fullName, fullName.givenName != nil || fullName.familyName != nil else { return nil }
        name = Name(firstName: fullName.givenName, lastName: fullName.familyName)
    }
}
