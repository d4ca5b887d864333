// iOS: signs in with Apple, with the nonce that the backend made for this sign-in.

import AuthenticationServices
import CryptoKit

@MainActor
final class SignInWithApple: NSObject, ASAuthorizationControllerDelegate {
    /// What the app sends to its backend, beside `"provider": "apple"`.
    struct Outcome: Encodable {
        var idToken: String
        /// At a person's first sign-in, and never again.
        var user: AppleUser?

        enum CodingKeys: String, CodingKey { case idToken = "id_token", user }
    }

    private var continuation: CheckedContinuation<Outcome?, any Error>?

    /// - Parameter nonce: As the backend sent it.
    /// - Returns: `nil` where the person cancelled, which is no error: show the button again.
    func signIn(nonce: String) async throws -> Outcome? {
        // One sheet at a time.
        guard continuation == nil else { return nil }
        let request = ASAuthorizationAppleIDProvider().createRequest()
        request.requestedScopes = [.fullName, .email]
        // Apple, and whoever sees the token, gets its SHA-256 alone.
        request.nonce = sha256(nonce)
        let controller = ASAuthorizationController(authorizationRequests: [request])
        controller.delegate = self
        return try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            controller.performRequests()
        }
    }

    func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        guard let credential = authorization.credential as? ASAuthorizationAppleIDCredential,
            let token = credential.identityToken.flatMap({ String(data: $0, encoding: .utf8) })
        else {
            finish(.failure(ASAuthorizationError(.invalidResponse)))
            return
        }
        finish(.success(Outcome(idToken: token, user: AppleUser(credential.fullName))))
    }

    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
        if (error as? ASAuthorizationError)?.code == .canceled {
            finish(.success(nil))
        } else {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<Outcome?, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

/// Lower-case hexadecimal, as Assay's preset `apple` expects it.
func sha256(_ nonce: String) -> String {
    SHA256.hash(data: Data(nonce.utf8)).map { String(format: "%02x", $0) }.joined()
}
