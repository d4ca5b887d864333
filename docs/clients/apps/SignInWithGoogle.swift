// iOS: signs in with Google, in a sign-in that the backend began. Needs GoogleSignIn 9.

import GoogleSignIn
import UIKit

/// Returns the ID Token, which the app sends with its `sign_in` to the backend, or `nil` if the user cancelled.
///
/// - Parameters:
///   - clientID: The app's client ID, of type "iOS".
///   - serverClientID: The backend's client ID, of type "web": the token's audience, on iOS and Android alike.
///   - nonce: The backend's `nonce`.
@MainActor
func signInWithGoogle(
    on presenter: UIViewController, clientID: String, serverClientID: String, nonce: String
) async throws -> String? {
    GIDSignIn.sharedInstance.configuration = GIDConfiguration(clientID: clientID, serverClientID: serverClientID)
    do {
        // Google puts the nonce into the token as it is: Assay's preset `google` expects `plain`.
        let result = try await GIDSignIn.sharedInstance.signIn(
            withPresenting: presenter, hint: nil, additionalScopes: nil, nonce: nonce)
        return result.user.idToken?.tokenString
    } catch let error as GIDSignInError where error.code == .canceled {
        return nil
    }
}
