package assay

import java.io.File
import java.net.URLEncoder

/**
 * Verifies ID Tokens and finishes sign-ins with Assay. One for the whole program; threads may share it. Calls block.
 *
 * Every call throws [AssayException]. A call is sent again only if nothing was used up: because the connection could not be opened,
 * or Assay answered 503 and says so; and calls that use nothing up, also after a lost answer. `Retry-After` is honoured, and no
 * attempt starts later than [retryFor] after the call. So a call takes at most [retryFor] and one timeout.
 */
open class Assay @JvmOverloads constructor(
    /** `http://…`, `https://…` or `unix:/path`. */
    url: String = "http://127.0.0.1:8080",
    private val apiKey: String? = null,
    /** Read for each call, so the key can be changed without a restart. */
    private val apiKeyFile: String? = null,
    /** Milliseconds that an attempt may take. */
    private val timeout: Long = 6_000,
    /** The same for calls that wait for a provider: [finish], [refresh], [revoke]. */
    private val finishTimeout: Long = 12_000,
    /** Milliseconds after the call in which another attempt may start; 0 for none. */
    private val retryFor: Long = 5_000,
    /** CA certificates to trust instead of the system's (PEM). */
    caFile: String? = null,
    transport: Transport? = null
) {
    private val transport: Transport = transport ?: HttpTransport(url, caFile)

    init {
        require(apiKey == null || apiKeyFile == null) { "give either apiKey or apiKeyFile" }
    }

    /** Begins the sign-in of an app. */
    @JvmOverloads
    fun begin(provider: String, options: BeginOptions = BeginOptions()): BegunSignIn =
        call("/v1/sign-ins", options.members() + ("provider" to provider), BegunSignIn.Companion::of, success = 201)

    /** Begins a sign-in in the browser. The client of the provider's settings must list [redirectUri]. */
    @JvmOverloads
    fun beginInBrowser(
        provider: String,
        redirectUri: String,
        options: BeginBrowserOptions = BeginBrowserOptions()
    ): BegunBrowserSignIn {
        val members = options.members() + mapOf("provider" to provider, "redirect_uri" to redirectUri)
        return call("/v1/sign-ins", members, BegunBrowserSignIn.Companion::of, success = 201)
    }

    /** Finishes the sign-in of an app. An ID Token or a `code` is required. */
    @JvmOverloads
    fun finish(signIn: String, idToken: String?, options: FinishOptions = FinishOptions()): FinishedSignIn {
        val members = options.members() + present("sign_in" to signIn, "id_token" to idToken)
        return call("/v1/sign-ins/finish", members, FinishedSignIn.Companion::of, usesUp = true)
    }

    /** Finishes a sign-in in the browser. [response]: all parameters that [redirectUri] received. */
    @JvmOverloads
    fun finishInBrowser(
        signIn: String,
        response: Map<String, String>,
        redirectUri: String,
        options: FinishBrowserOptions = FinishBrowserOptions()
    ): FinishedSignIn {
        val members = options.members() + mapOf("sign_in" to signIn, "response" to response, "redirect_uri" to redirectUri)
        return call("/v1/sign-ins/finish", members, FinishedSignIn.Companion::of, usesUp = true)
    }

    /** Redeems a refresh token. Store `grant.refreshToken`, if there is one, before anything else. */
    @JvmOverloads
    fun refresh(
        provider: String,
        refreshToken: String,
        subject: String,
        options: RefreshOptions = RefreshOptions()
    ): Refreshed {
        val named = mapOf("provider" to provider, "refresh_token" to refreshToken, "subject" to subject)
        return call("/v1/grants/refresh", options.members() + named, Refreshed.Companion::of, usesUp = true)
    }

    /** Revokes a token. It is safe to revoke one again. */
    @JvmOverloads
    fun revoke(provider: String, token: String, options: RevokeOptions = RevokeOptions()) {
        val members = options.members() + mapOf("provider" to provider, "token" to token)
        call("/v1/grants/revoke", members, { _ -> Unit }, success = 204, isSlow = true)
    }

    /** Exchanges the code of a native sign-in, and revokes its tokens. */
    @JvmOverloads
    fun revokeCode(provider: String, code: String, options: RevokeCodeOptions = RevokeCodeOptions()) {
        val members = options.members() + mapOf("provider" to provider, "code" to code)
        call("/v1/grants/revoke", members, { _ -> Unit }, success = 204, usesUp = true)
    }

    /** Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one. */
    @JvmOverloads
    fun proof(
        provider: String,
        binding: String,
        accessToken: String,
        method: String,
        url: String,
        options: ProofOptions = ProofOptions()
    ): Proof {
        val grant = mapOf("provider" to provider, "binding" to binding, "access_token" to accessToken)
        val members = options.members() + grant + mapOf("method" to method, "url" to url)
        return call("/v1/grants/proof", members, Proof.Companion::of)
    }

    /** Where the user signs out at the provider. End your own session first. */
    @JvmOverloads
    fun signOut(provider: String, options: SignOutOptions = SignOutOptions()): SignOut =
        call("/v1/sign-outs", options.members() + ("provider" to provider), SignOut.Companion::of)

    /**
     * Verifies an ID Token, without [begin] and [finish]. [nonce]: `null` only if the sign-in has none. [singleUse]: the provider
     * has `nonce.single_use` in Assay's settings.
     */
    @JvmOverloads
    fun verify(
        idToken: String,
        nonce: String?,
        options: VerifyOptions = VerifyOptions(),
        singleUse: Boolean = false
    ): Verified {
        val members = options.members() + present("id_token" to idToken, "nonce" to nonce)
        return call("/v1/verify", members, Verified.Companion::of, usesUp = singleUse, isSlow = false)
    }

    /** Verifies an access token that your API got. A [Dpop] proof can be used once. */
    @JvmOverloads
    fun verifyAccessToken(token: String, options: AccessTokenOptions = AccessTokenOptions()): VerifiedAccessToken {
        val members = options.members() + ("token" to token)
        val usesUp = options.dpop != null
        return call("/v1/access-tokens/verify", members, VerifiedAccessToken.Companion::of, usesUp = usesUp, isSlow = false)
    }

    /** The metadata of a resource of Assay's settings (RFC 9728). Serve it as it is. */
    fun resourceMetadata(resource: String): Map<String, Any?> {
        val id = URLEncoder.encode(resource, "UTF-8")
        return call("/v1/resources/$id/metadata", null, { metadata -> metadata.all.also { metadata.string("resource") } })
    }

    /** Verifies a logout token, a security event, or Apple's `payload`. */
    @JvmOverloads
    fun verifyNotification(
        token: String,
        provider: String? = null,
        options: NotificationOptions = NotificationOptions()
    ): VerifiedNotification {
        val members = options.members() + present("token" to token, "provider" to provider)
        return call("/v1/notifications/verify", members, VerifiedNotification.Companion::of)
    }

    /** Verifies the body that Apple sent, an object with `payload`, as JSON text. */
    @JvmOverloads
    fun verifyAppleNotification(
        body: String,
        provider: String? = null,
        options: NotificationOptions = NotificationOptions()
    ): VerifiedNotification {
        val payload = try {
            JsonReader.read(body)
        } catch (_: NotJson) {
            throw IllegalArgumentException("the body is not JSON")
        }
        val members = options.members() + present("payload" to payload, "provider" to provider)
        return call("/v1/notifications/verify", members, VerifiedNotification.Companion::of)
    }

    /** [usesUp]: it is sent over a new connection, and not again after a lost answer. [isSlow]: Assay may wait for the provider. */
    private fun <Answer> call(
        path: String,
        members: Map<String, Any?>?,
        of: (Members) -> Answer,
        success: Int = 200,
        usesUp: Boolean = false,
        isSlow: Boolean = usesUp
    ): Answer {
        val body = if (members == null) "" else json(members)
        val headers = headers(members != null)
        val last = transport.now() + retryFor
        var lost = 0
        while (true) {
            var wait: Long
            val problem = try {
                val reply = transport.send(path, body, headers, if (isSlow) finishTimeout else timeout, usesUp)
                if (reply.status == success) return read(of, if (success == 204) NOTHING else reply, usesUp)
                wait = (reply.retryAfter ?: 1) * 1_000L
                problem(reply, usesUp)
            } catch (failure: NoAnswer) {
                wait = minOf(50L * ((1 shl minOf(lost, 5)) - 1), 1_000L)
                lost++
                AssayException.of(0, usesUp && failure.sent, members = mapOf("detail" to failure.detail))
            }
            if (!problem.mayRetry || transport.now() + wait > last) throw problem
            transport.sleep(wait)
        }
    }

    private fun headers(hasBody: Boolean): Map<String, String> {
        val key = apiKeyFile?.let { File(it).readText().trim() } ?: apiKey
        check(key != "") { "the API key's file $apiKeyFile is empty" }
        val type = if (hasBody) mapOf("Content-Type" to "application/json") else mapOf()
        return type + (key?.let { mapOf("Authorization" to "Bearer $it") } ?: mapOf())
    }

    private fun <Answer> read(of: (Members) -> Answer, reply: Reply, usesUp: Boolean): Answer = try {
        of(Members.of(reply.body))
    } catch (_: NotAssays) {
        throw AssayException.of(reply.status, usesUp)
    }

    private fun problem(reply: Reply, usesUp: Boolean): AssayException {
        val value = try {
            JsonReader.read(reply.body)
        } catch (_: NotJson) {
            null
        }
        @Suppress("UNCHECKED_CAST")
        val members = value as? Map<String, Any?> ?: emptyMap()
        val code = members["code"] as? String
        val said = members["spent"] as? Boolean
        // Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
        val spent = said ?: (code == null || reply.status == 503 && code !in EARLY)
        // A verification needs the store only for a single-use nonce or a proof.
        val mayBe = usesUp || said == null && code == Code.STORE_UNAVAILABLE
        return AssayException.of(reply.status, mayBe && spent, reply.retryAfter, members)
    }

    private companion object {
        val NOTHING = Reply(204, "{}")

        /** Before these, nothing has been used up. */
        val EARLY = setOf(Code.KEYS_UNAVAILABLE, Code.OVERLOADED, Code.SHUTTING_DOWN)
    }
}
