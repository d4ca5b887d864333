// iOS: signs in with Apple, in a sign-in that the backend began.

import AuthenticationServices

@MainActor
final class SignInWithApple: NSObject, ASAuthorizationControllerDelegate {
    /// The app sends this to its backend, together with the `sign_in` that it kept in memory.
    struct Outcome: Encodable {
        var idToken: String
        /// Only at a user's first sign-in.
        var user: AppleUser?

        enum CodingKeys: String, CodingKey { case idToken = "id_token", user }
    }

    private var continuation: CheckedContinuation<Outcome?, any Error>?

    /// - Parameter nonceSHA256: The backend's `nonce_sha256`.
    /// - Returns: `nil` if the user cancelled. This is not an error: show the button again.
    func signIn(nonceSHA256: String) async throws -> Outcome? {
        // One sheet at a time.
        guard continuation == nil else { return nil }
        let request = ASAuthorizationAppleIDProvider().createRequest()
        request.requestedScopes = [.fullName, .email]
        // Apple puts it into the token as it is: Assay's preset `apple` expects the hash.
        request.nonce = nonceSHA256
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
