import AssayClient
import Foundation

/// Finishes an app's sign-in: the status and the body of the response.
func finish(_ assay: Assay, _ signIn: String, _ idToken: String) async throws -> (status: Int, body: [String: String]) {
    do {
        let identity = try await assay.finish(signIn, idToken: idToken).identity
        // Find or create the user with these two, and start a session.
        return (200, ["issuer": identity.issuer, "subject": identity.subject])
    } catch let error as AssayError {
        FileHandle.standardError.write(Data("sign-in: \(error)\n".utf8))
        if error.mayRetry { return (503, ["error": "try again later"]) }
        if error.spent || error.isRefused { return (401, ["error": "start a new sign-in"]) }
        return (500, ["error": "internal error"])
    }
}
