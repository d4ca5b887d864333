package assay

import com.google.gson.FieldNamingPolicy
import com.google.gson.GsonBuilder
import com.google.gson.JsonArray
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import com.google.gson.JsonParseException
import com.google.gson.JsonParser
import com.google.gson.JsonPrimitive
import java.io.IOException
import java.net.ConnectException
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpConnectTimeoutException
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

/**
 * A sign-in to be finished before `expiresAt` (Unix seconds). The app gives the provider `nonceSha256` or `nonce`.
 *
 * `signIn` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
 * URL, or look it up by a value from a request. Not a data class: it must not appear in logs.
 */
class BegunSignIn(val signIn: String, val nonce: String, val nonceSha256: String, val expiresAt: Long)

/**
 * A sign-in to be finished before `expiresAt` (Unix seconds). Redirect the browser to `authorizationUrl`.
 *
 * `signIn` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
 * Not a data class: it must not appear in logs.
 */
class BegunBrowserSignIn(val signIn: String, val state: String, val authorizationUrl: String, val expiresAt: Long)

/**
 * The provider's tokens, for the backend only: never log them, or send them to an app or a page.
 *
 * Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refreshToken` is `null` after a
 * refresh, the old one stays valid. If `scopes` is `null`, the provider granted those that were requested. Not a data class:
 * it must not appear in logs.
 */
class Grant(
    val accessToken: String,
    val tokenType: String,
    val expiresAt: Long?,
    val refreshToken: String?,
    val scopes: List<String>?,
    val idToken: String?
)

/** Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged. */
data class FinishedSignIn(val identity: Identity, val context: String?, val grant: Grant?)

/**
 * Store the new refresh token, if there is one, before anything else: the old one may be used up.
 *
 * `identity` is `null` if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
 * `keys_unavailable`.
 */
data class Refreshed(val grant: Grant, val identity: Identity?, val problem: String?)

/** For `verify`, without `begin` and `finish`. Not a data class: it must not appear in logs. */
class SignIn(
    val provider: String,
    val idToken: String,
    /** The nonce that this backend generated for this sign-in. */
    val nonce: String?,
    val audience: String? = null,
    val maxAge: Int? = null,
    val accessToken: String? = null,
    val code: String? = null,
    /** The object that Apple gives the app at a user's first sign-in. */
    val user: JsonObject? = null,
    val subject: String? = null,
    val issuer: String? = null,
    val authenticatedAfter: Long? = null
)

/** What happened. `subject` is the user's, as in [Identity]; `data` has the rest of the event. */
data class Event(
    val type: String,
    val subject: String?,
    val sessionId: String?,
    val email: String?,
    val isPrivateEmail: Boolean?,
    val occurredAt: Long?,
    val reason: String?,
    val data: JsonObject
)

/** A verified notification. `provider` and `id` together are the same for repeated deliveries. */
data class Notification(
    val provider: String,
    val issuer: String,
    val kind: String,
    val id: String,
    val issuedAt: Long,
    val events: List<Event>
)

sealed class Verdict {
    data class Verified(val identity: Identity) : Verdict()

    /** Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid. */
    data class Refused(val code: String, val claim: String?, val requestId: String?) : Verdict()

    /** Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after that. */
    data class Unavailable(val retryAfter: Duration) : Verdict()
}

/**
 * A problem. Without a response, `status` is 0 and `code` is `null`.
 *
 * `spent` is for a finish, a refresh or a revocation. If it is `false`, nothing was used up: at 0 or 503, the request may be
 * sent again, after `retryAfter` if that is not `null`. If it is `true`, the sign-in, code or refresh token is, or may be,
 * used up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `code` is `grant_invalid`;
 * otherwise, try it once more later.
 *
 * `providerError` is the provider's error code. `context` is the begin call's, if the user or the provider
 * ended it (`sign_in_denied`, `provider_refused`): don't log it.
 */
class AssayException(
    val status: Int,
    val code: String?,
    val requestId: String?,
    val spent: Boolean = false,
    val retryAfter: Duration? = null,
    val providerError: String? = null,
    val context: String? = null
) : Exception(if (status == 0) "Assay did not answer" else "Assay answered $status $code, request $requestId")

/**
 * Signs users in with Assay. Java 11 or later, and Gson. One for the whole program: it keeps the connections, and many
 * threads may use it.
 */
class Assay(
    private val url: String = "http://127.0.0.1:8080",
    private val apiKey: String? = null,
    /** A little longer than Assay waits for a provider. */
    private val timeout: Duration = Duration.ofSeconds(6),
    /** For a finish, a refresh and a revocation. */
    private val finishTimeout: Duration = Duration.ofSeconds(12)
) {
    private val http = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(timeout)
        .proxy(HttpClient.Builder.NO_PROXY) // The token is for Assay alone.
        .build()

    /** `subject` is the only user who can finish it. The finish returns `context`. Throws [AssayException]. */
    fun begin(
        provider: String,
        audience: String? = null,
        maxAge: Int? = null,
        subject: String? = null,
        issuer: String? = null,
        context: String? = null,
        expiresIn: Int? = null
    ): BegunSignIn {
        val request = mapOf(
            "provider" to provider, "audience" to audience, "max_age" to maxAge, "subject" to subject,
            "issuer" to issuer, "context" to context, "expires_in" to expiresIn
        )
        val answer = ask("/v1/sign-ins", request)
        if (answer.status != 201 || answer.text("sign_in") == null || answer.text("nonce") == null) throw answer.problem()
        return gson.fromJson(answer.members, BegunSignIn::class.java)
    }

    /** `redirectUri` is one of the client's `redirect_uris` in Assay's settings. Throws [AssayException]. */
    fun beginInBrowser(
        provider: String,
        redirectUri: String,
        audience: String? = null,
        maxAge: Int? = null,
        subject: String? = null,
        issuer: String? = null,
        context: String? = null,
        expiresIn: Int? = null,
        scopes: List<String>? = null,
        prompt: String? = null,
        loginHint: String? = null,
        uiLocales: String? = null,
        acrValues: String? = null,
        responseMode: String? = null
    ): BegunBrowserSignIn {
        val request = mapOf(
            "provider" to provider, "redirect_uri" to redirectUri, "audience" to audience, "max_age" to maxAge,
            "subject" to subject, "issuer" to issuer, "context" to context, "expires_in" to expiresIn, "scopes" to scopes,
            "prompt" to prompt, "login_hint" to loginHint, "ui_locales" to uiLocales, "acr_values" to acrValues,
            "response_mode" to responseMode
        )
        val answer = ask("/v1/sign-ins", request)
        val isWhole = listOf("sign_in", "state", "authorization_url").all { answer.text(it) != null }
        if (answer.status != 201 || !isWhole) throw answer.problem()
        return gson.fromJson(answer.members, BegunBrowserSignIn::class.java)
    }

    /**
     * `idToken` or `code` is required; `redirectUri` is the one with which the app got the code, if any; `user` is as in
     * [SignIn]. Throws [AssayException]. The request is sent only once.
     */
    fun finish(
        signIn: String,
        idToken: String?,
        accessToken: String? = null,
        code: String? = null,
        user: JsonObject? = null,
        redirectUri: String? = null
    ): FinishedSignIn = finish(
        mapOf(
            "sign_in" to signIn, "id_token" to idToken, "access_token" to accessToken, "code" to code, "user" to user,
            "redirect_uri" to redirectUri
        )
    )

    /**
     * `response` has all parameters that the redirect URI received; `redirectUri` is that URI. Throws [AssayException]. The
     * request is sent only once.
     */
    fun finishInBrowser(signIn: String, response: Map<String, String>, redirectUri: String? = null): FinishedSignIn =
        finish(mapOf("sign_in" to signIn, "response" to response, "redirect_uri" to redirectUri))

    private fun finish(request: Map<String, Any?>): FinishedSignIn {
        val answer = askOnce("/v1/sign-ins/finish", request)
        val identity = answer.identity()
        val grant = answer.grant()
        if (answer.status != 200 || identity == null || (grant == null && answer.has("grant"))) {
            throw answer.problem(answer.isSpent)
        }
        return FinishedSignIn(identity, answer.text("context"), grant)
    }

    /** Throws [AssayException]. The request is sent only once. */
    fun refresh(
        provider: String,
        refreshToken: String,
        subject: String,
        issuer: String? = null,
        audience: String? = null,
        scopes: List<String>? = null
    ): Refreshed {
        val request = mapOf(
            "provider" to provider, "refresh_token" to refreshToken, "subject" to subject, "issuer" to issuer,
            "audience" to audience, "scopes" to scopes
        )
        val answer = askOnce("/v1/grants/refresh", request)
        val grant = answer.grant()
        val identity = answer.identity()
        if (answer.status != 200 || grant == null || (identity == null && answer.has("identity"))) {
            throw answer.problem(answer.isSpent)
        }
        return Refreshed(grant, identity, (answer.members.get("problem") as? JsonObject)?.get("code")?.asString)
    }

    /** Throws [AssayException], never `spent`: it is safe to revoke a token again. */
    fun revoke(provider: String, token: String, tokenTypeHint: String? = null, audience: String? = null) {
        val request = mapOf(
            "provider" to provider, "token" to token, "token_type_hint" to tokenTypeHint, "audience" to audience
        )
        val answer = askOnce("/v1/grants/revoke", request, usesUp = false)
        if (answer.status != 204) throw answer.problem()
    }

    /**
     * Exchanges the code, and revokes the tokens. With `subject`, a code of another user is refused. Throws
     * [AssayException]. The request is sent only once.
     */
    fun revokeByCode(
        provider: String,
        code: String,
        redirectUri: String? = null,
        audience: String? = null,
        subject: String? = null,
        issuer: String? = null
    ) {
        val request = mapOf(
            "provider" to provider, "code" to code, "redirect_uri" to redirectUri, "audience" to audience,
            "subject" to subject, "issuer" to issuer
        )
        val answer = askOnce("/v1/grants/revoke", request)
        if (answer.status != 204) throw answer.problem(answer.isSpent)
    }

    /** `singleUse`: the provider has `nonce.single_use`, so the request is sent once. Throws [AssayException]. */
    fun verify(signIn: SignIn, singleUse: Boolean = false): Verdict {
        val answer = try {
            if (singleUse) postOnce("/v1/verify", signIn, timeout) else post("/v1/verify", signIn)
        } catch (error: IOException) {
            return Verdict.Unavailable(Duration.ofSeconds(1))
        }
        val identity = answer.identity()
        val code = answer.text("code")
        return when {
            answer.status == 200 && identity != null -> Verdict.Verified(identity)
            answer.status == 422 && code != null ->
                Verdict.Refused(code, answer.text("claim"), answer.text("request_id"))
            answer.status == 503 -> Verdict.Unavailable(answer.retryAfter ?: Duration.ofSeconds(1))
            else -> throw answer.problem()
        }
    }

    /** Either `token`, or `payload`, the body that Apple sent. Throws [AssayException]. */
    fun notification(token: String? = null, payload: JsonElement? = null, provider: String? = null): Notification {
        val answer = ask("/v1/notifications/verify", mapOf("token" to token, "payload" to payload, "provider" to provider))
        val notification = answer.members.get("notification") as? JsonObject
        val events = answer.members.get("events") as? JsonArray
        if (answer.status != 200 || notification == null || events == null) throw answer.problem()
        notification.add("events", events)
        return gson.fromJson(notification, Notification::class.java)
    }

    private fun ask(path: String, request: Any): Answer =
        try {
            post(path, request)
        } catch (error: IOException) {
            throw AssayException(0, null, null)
        }

    /** `usesUp`: without a response, something may be used up. */
    private fun askOnce(path: String, request: Any, usesUp: Boolean = true): Answer =
        try {
            postOnce(path, request, finishTimeout)
        } catch (error: IOException) {
            val wasUnreachable = error is ConnectException || error is HttpConnectTimeoutException
            throw AssayException(0, null, null, spent = usesUp && !wasUnreachable)
        }

    /** A request without side effects, which is safe to resend. */
    private fun post(path: String, request: Any): Answer =
        try {
            postOnce(path, request, timeout)
        } catch (error: HttpTimeoutException) {
            throw error
        } catch (error: IOException) {
            // A kept connection may have been closed just then.
            postOnce(path, request, timeout)
        }

    /** `HttpClient` takes no connection that it knows to be closed, and sends no POST again by itself. */
    private fun postOnce(path: String, request: Any, timeout: Duration): Answer {
        val builder = HttpRequest.newBuilder(URI(url + path))
            .timeout(timeout)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(gson.toJson(request)))
        apiKey?.let { builder.header("Authorization", "Bearer $it") }
        return Answer(http.send(builder.build(), HttpResponse.BodyHandlers.ofString()))
    }

    /** No members if it is not a JSON object: then the response is not Assay's. */
    private class Answer(response: HttpResponse<String>) {
        val status = response.statusCode()
        val retryAfter: Duration? =
            response.headers().firstValue("Retry-After").orElse("").toLongOrNull()?.let { Duration.ofSeconds(it) }
        val members: JsonObject =
            try {
                JsonParser.parseString(response.body()) as? JsonObject ?: JsonObject()
            } catch (error: JsonParseException) {
                JsonObject()
            }

        /** A response without `spent` is not Assay's, and the request may have arrived. */
        val isSpent: Boolean get() = text("spent") != "false"

        fun has(name: String): Boolean = members.get(name)?.isJsonNull == false

        fun text(name: String): String? = members.text(name)

        fun grant(): Grant? {
            val grant = members.get("grant") as? JsonObject
            return if (grant?.text("access_token") == null) null else gson.fromJson(grant, Grant::class.java)
        }

        fun identity(): Identity? {
            val identity = members.get("identity") as? JsonObject
            if (identity?.text("issuer") == null || identity.text("subject") == null) return null
            return gson.fromJson(identity, Identity::class.java)
        }

        fun problem(spent: Boolean = false) =
            AssayException(
                status, text("code"), text("request_id"), spent, retryAfter, text("provider_error"), text("context")
            )

        private fun JsonObject.text(name: String): String? = (get(name) as? JsonPrimitive)?.asString
    }

    private companion object {
        val gson = GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()
    }
}
