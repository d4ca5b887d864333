// The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
//
//   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
//   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
//   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
//
// The other calls work the same way, by name. A real backend never sends a grant to an app.

package assay

import com.google.gson.FieldNamingPolicy
import com.google.gson.GsonBuilder
import com.google.gson.JsonObject

private val gson = GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()

private class Begin(
    val provider: String,
    val audience: String?,
    val maxAge: Int?,
    val subject: String?,
    val issuer: String?,
    val context: String?,
    val expiresIn: Int?,
    // In a browser.
    val redirectUri: String,
    val scopes: List<String>?,
    val prompt: String?,
    val loginHint: String?,
    val uiLocales: String?,
    val acrValues: String?,
    val responseMode: String?
)

private class Finish(
    val signIn: String,
    val idToken: String?,
    val accessToken: String?,
    val code: String?,
    val user: JsonObject?,
    val redirectUri: String?,
    // In a browser.
    val response: Map<String, String>
)

private class Refresh(
    val provider: String,
    val refreshToken: String,
    val subject: String,
    val issuer: String?,
    val audience: String?,
    val scopes: List<String>?
)

private class Revoke(
    val provider: String,
    val token: String,
    val tokenTypeHint: String?,
    val audience: String?,
    // By code.
    val code: String,
    val redirectUri: String?,
    val subject: String?,
    val issuer: String?
)

private class Receive(val contentType: String, val body: String)

private class Request(
    val begin: Begin?,
    val beginInBrowser: Begin?,
    val finish: Finish?,
    val finishInBrowser: Finish?,
    val verify: JsonObject?,
    val refresh: Refresh?,
    val revoke: Revoke?,
    val revokeByCode: Revoke?,
    val receive: Receive?
)

/** Stands in for the database. */
private val known = mutableSetOf<Pair<String, String>>()

private fun Assay.receive(sent: Receive): Map<String, Any?> {
    val done = mutableListOf<String>()
    val receiver = Receiver(this) { notification ->
        if (known.add(notification.provider to notification.id)) notification.events.mapTo(done) { it.type }
    }
    return mapOf("answered" to receiver.receive(sent.contentType, sent.body), "done" to done)
}

private fun Assay.answer(request: Request): Map<String, Any?> {
    request.receive?.let { return receive(it) }
    request.begin?.run {
        return mapOf("begun" to begin(provider, audience, maxAge, subject, issuer, context, expiresIn))
    }
    request.beginInBrowser?.run {
        val begun = beginInBrowser(
            provider, redirectUri, audience, maxAge, subject, issuer, context, expiresIn, scopes, prompt, loginHint,
            uiLocales, acrValues, responseMode
        )
        return mapOf("begun_in_browser" to begun)
    }
    request.finish?.run {
        return mapOf("finished" to finish(signIn, idToken, accessToken, code, user, redirectUri))
    }
    request.finishInBrowser?.run { return mapOf("finished" to finishInBrowser(signIn, response, redirectUri)) }
    request.refresh?.run {
        return mapOf("refreshed" to refresh(provider, refreshToken, subject, issuer, audience, scopes))
    }
    request.revoke?.run {
        revoke(provider, token, tokenTypeHint, audience)
        return mapOf("revoked" to true)
    }
    request.revokeByCode?.run {
        revokeByCode(provider, code, redirectUri, audience, subject, issuer)
        return mapOf("revoked" to true)
    }
    val singleUse = request.verify?.get("single_use")?.asBoolean ?: false
    return when (val verdict = verify(gson.fromJson(request.verify, SignIn::class.java), singleUse)) {
        is Verdict.Verified -> mapOf("verified" to verdict.identity)
        is Verdict.Refused -> mapOf("refused" to verdict.code)
        is Verdict.Unavailable -> mapOf("unavailable" to verdict.retryAfter.seconds)
    }
}

fun main() {
    val assay = Assay(System.getenv("ASSAY_URL") ?: "http://127.0.0.1:8080", System.getenv("ASSAY_API_KEY"))
    for (line in generateSequence(::readLine)) {
        val said = try {
            assay.answer(gson.fromJson(line, Request::class.java))
        } catch (error: AssayException) {
            // The text of the error is for the log. It has no token and no handle.
            mapOf(
                "error" to error.status, "code" to error.code, "spent" to error.spent, "log" to error.message,
                "provider_error" to error.providerError, "context" to error.context
            )
        }
        println(gson.toJson(said))
    }
}
