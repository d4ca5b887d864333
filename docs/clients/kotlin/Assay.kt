import com.google.gson.FieldNamingPolicy
import com.google.gson.GsonBuilder
import com.google.gson.JsonObject
import com.google.gson.JsonParseException
import com.google.gson.JsonParser
import com.google.gson.JsonPrimitive
import java.io.IOException
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.net.http.HttpTimeoutException
import java.time.Duration

/** Who signed in. `issuer` and `subject` together are the key under which to store the user. */
data class Identity(
    val provider: String,
    val issuer: String,
    val subject: String,
    val email: String?,
    val emailVerified: Boolean?,
    val emailTrust: String?,
    val isPrivateEmail: Boolean?,
    val name: String?,
    val givenName: String?,
    val familyName: String?,
    val nameSource: String?,
    val preferredUsername: String?,
    val picture: String?,
    val locale: String?,
    val realUserStatus: String?,
    val transferSubject: String?,
    val tenant: String?,
    val hostedDomain: String?
)

/** What the app sent, and the nonce that this backend made. Not a data class: it must not show itself in logs. */
class SignIn(
    val provider: String,
    val idToken: String,
    val nonce: String?,
    val audience: String? = null,
    val maxAge: Int? = null,
    val accessToken: String? = null,
    val code: String? = null,
    /** What Apple gave the app beside the token, at a person's first sign-in. */
    val user: JsonObject? = null
)

sealed class Verdict {
    data class Verified(val identity: Identity) : Verdict()

    /** Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid. */
    data class Refused(val code: String, val claim: String?, val requestId: String?) : Verdict()

    /** Nobody can say just now; the same request may succeed after that. */
    data class Unavailable(val retryAfter: Duration) : Verdict()
}

/** A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500). */
class AssayException(val status: Int, val code: String?, val requestId: String?) :
    Exception("Assay answered $status $code, request $requestId")

/**
 * Asks Assay whose ID Token it is. Java 11 or later, and Gson. One for the whole program: it keeps the connections, and
 * many threads may use it.
 */
class Assay(
    url: String = "http://127.0.0.1:8080",
    private val apiKey: String? = null,
    /** A little longer than Assay waits for a provider's keys. */
    private val timeout: Duration = Duration.ofSeconds(6)
) {
    private val uri = URI("$url/v1/verify")
    private val http = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(timeout)
        .proxy(HttpClient.Builder.NO_PROXY) // The token is for Assay alone.
        .build()

    /** Throws [AssayException]. */
    fun verify(signIn: SignIn): Verdict {
        val request = HttpRequest.newBuilder(uri)
            .timeout(timeout)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(gson.toJson(signIn)))
        apiKey?.let { request.header("Authorization", "Bearer $it") }
        val response = try {
            send(request.build())
        } catch (error: IOException) {
            return Verdict.Unavailable(Duration.ofSeconds(1))
        }
        val answer = read(response.body())
        val code = answer?.text("code")
        val requestId = answer?.text("request_id")
        val identity = answer?.get("identity") as? JsonObject
        return when {
            response.statusCode() == 200 && identity?.text("issuer") != null && identity.text("subject") != null ->
                Verdict.Verified(gson.fromJson(identity, Identity::class.java))
            response.statusCode() == 422 && code != null -> Verdict.Refused(code, answer.text("claim"), requestId)
            response.statusCode() == 503 -> {
                val seconds = response.headers().firstValue("Retry-After").orElse("").toLongOrNull()
                Verdict.Unavailable(Duration.ofSeconds(seconds ?: 1))
            }
            else -> throw AssayException(response.statusCode(), code, requestId)
        }
    }

    private fun send(request: HttpRequest): HttpResponse<String> =
        try {
            http.send(request, HttpResponse.BodyHandlers.ofString())
        } catch (error: HttpTimeoutException) {
            throw error
        } catch (error: IOException) {
            // A kept connection may have been closed just then: the request may be sent again, on another.
            http.send(request, HttpResponse.BodyHandlers.ofString())
        }

    /** `null` if it is no JSON object: then it was not Assay that answered. */
    private fun read(body: String): JsonObject? =
        try {
            JsonParser.parseString(body) as? JsonObject
        } catch (error: JsonParseException) {
            null
        }

    private fun JsonObject.text(name: String): String? = (get(name) as? JsonPrimitive)?.asString

    private companion object {
        val gson = GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()
    }
}
