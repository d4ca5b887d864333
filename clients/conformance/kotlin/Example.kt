import assay.Assay
import assay.AssayException
import assay.Refused

/** Finishes an app's sign-in: the status and the body of the response. */
fun finish(assay: Assay, signIn: String, idToken: String): Pair<Int, Map<String, String>> = try {
    val identity = assay.finish(signIn, idToken).identity
    // Find or create the user with these two, and start a session.
    Pair(200, mapOf("issuer" to identity.issuer, "subject" to identity.subject))
} catch (error: AssayException) {
    System.err.println("sign-in: ${error.message}")
    when {
        error.mayRetry -> Pair(503, mapOf("error" to "try again later"))
        error.spent || error is Refused -> Pair(401, mapOf("error" to "start a new sign-in"))
        else -> Pair(500, mapOf("error" to "internal error"))
    }
}
