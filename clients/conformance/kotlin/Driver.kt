// Runs the conformance cases with the installed JAR: reads calls as JSON, one per line, and writes what they return.

import assay.AccessTokenOptions
import assay.Assay
import assay.AssayException
import assay.BeginBrowserOptions
import assay.BeginOptions
import assay.Code
import assay.Dpop
import assay.FakeAssay
import assay.FinishBrowserOptions
import assay.FinishOptions
import assay.NotificationOptions
import assay.ProofOptions
import assay.Refused
import assay.RefreshOptions
import assay.RevokeCodeOptions
import assay.RevokeOptions
import assay.SignOutOptions
import assay.Unavailable
import assay.VerifyOptions
import com.google.gson.GsonBuilder
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import com.google.gson.FieldNamingPolicy
import com.google.gson.JsonParser

// Gson only reads and writes the test's lines. It names the members as the contract does.
val gson = GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).disableHtmlEscaping().serializeNulls().create()
val clients = HashMap<String, Assay>()

fun camel(name: String) = name.split('_').let { parts -> parts[0] + parts.drop(1).joinToString("") { it.capitalize() } }

fun snake(name: String) = name.replace(Regex("[A-Z]")) { "_" + it.value.toLowerCase() }

fun plain(value: JsonElement?): Any? = when {
    value == null || value.isJsonNull -> null
    value.isJsonObject -> value.asJsonObject.entrySet().associate { it.key to plain(it.value) }
    value.isJsonArray -> value.asJsonArray.map { plain(it) }
    value.asJsonPrimitive.isBoolean -> value.asBoolean
    value.asJsonPrimitive.isNumber -> if (value.asString.all { it.isDigit() || it == '-' }) value.asLong else value.asDouble
    else -> value.asString
}

class With(private val members: JsonObject) {
    fun text(name: String): String? = members[name]?.takeIf { !it.isJsonNull }?.asString
    fun required(name: String): String = text(name)!!
    fun number(name: String): Long? = members[name]?.takeIf { !it.isJsonNull }?.asLong
    fun seconds(name: String, usual: Long): Long = members[name]?.let { (it.asDouble * 1000).toLong() } ?: usual
    fun flag(name: String): Boolean? = members[name]?.asBoolean
    fun texts(name: String): List<String>? = members[name]?.asJsonArray?.map { it.asString }
    fun json(name: String): String = members[name].toString()
    fun has(name: String) = members.has(name)

    @Suppress("UNCHECKED_CAST")
    fun map(name: String): Map<String, Any?>? = plain(members[name]) as Map<String, Any?>?
}

fun client(text: JsonObject): Assay = clients.getOrPut(text.toString()) {
    val options = With(text)
    if (!options.has("script")) {
        Assay(
            options.required("url"), options.text("api_key"), options.text("api_key_file"), options.seconds("timeout", 6_000),
            options.seconds("finish_timeout", 12_000), options.seconds("retry_for", 5_000), options.text("ca_file")
        )
    } else {
        val fake = FakeAssay()
        for (each in text["script"].asJsonArray) {
            val act = With(each.asJsonObject)
            val members = act.map("members") ?: emptyMap()
            when {
                act.has("will") -> fake.will(camel(act.required("will")), members)
                act.has("fail") -> {
                    val status = act.number("status")!!.toInt()
                    fake.willFail(camel(act.required("fail")), status, act.required("code"), members, act.number("retry_after")?.toInt())
                }
                else -> fake.willNotAnswer(camel(act.required("no_answer")), act.flag("sent")!!)
            }
        }
        fake
    }
}

fun call(assay: Assay, name: String, with: With): Any? = with.run {
    when (name) {
        "begin" -> assay.begin(
            required("provider"),
            BeginOptions(
                audience = text("audience"), maxAge = number("max_age"), subject = text("subject"), issuer = text("issuer"),
                context = text("context"), expiresIn = number("expires_in"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
        )
        "begin_in_browser" -> assay.beginInBrowser(
            required("provider"), required("redirect_uri"),
            BeginBrowserOptions(
                audience = text("audience"), maxAge = number("max_age"), subject = text("subject"), issuer = text("issuer"),
                context = text("context"), expiresIn = number("expires_in"), scopes = texts("scopes"), prompt = text("prompt"),
                loginHint = text("login_hint"), uiLocales = text("ui_locales"), acrValues = text("acr_values"),
                responseMode = text("response_mode"), requireAcr = flag("require_acr"), claims = map("claims"),
                resource = texts("resource"), idTokenHint = text("id_token_hint"), client = map("client"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
        )
        "finish" -> assay.finish(
            required("sign_in"), text("id_token"),
            FinishOptions(
                code = text("code"), accessToken = text("access_token"), redirectUri = text("redirect_uri"), user = map("user"),
                includeClaims = flag("include_claims"), connection = text("connection"), client = map("client")
            )
        )
        "finish_in_browser" -> assay.finishInBrowser(
            required("sign_in"), map("response")!!.mapValues { it.value as String }, required("redirect_uri"),
            FinishBrowserOptions(
                includeClaims = flag("include_claims"), connection = text("connection"), client = map("client")
            )
        )
        "refresh" -> assay.refresh(
            required("provider"), required("refresh_token"), required("subject"),
            RefreshOptions(
                binding = text("binding"), issuer = text("issuer"), audience = text("audience"), scopes = texts("scopes"),
                includeClaims = flag("include_claims"), client = map("client"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
        )
        "revoke" -> assay.revoke(
            required("provider"), required("token"),
            RevokeOptions(
                audience = text("audience"), tokenTypeHint = text("token_type_hint"), binding = text("binding"),
                issuer = text("issuer"), client = map("client"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
        )
        "revoke_code" -> assay.revokeCode(
            required("provider"), required("code"),
            RevokeCodeOptions(
                audience = text("audience"), redirectUri = text("redirect_uri"), subject = text("subject"), issuer = text("issuer"),
                client = map("client"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
        )
        "proof" -> assay.proof(
            required("provider"), required("binding"), required("access_token"), required("method"), required("url"),
            ProofOptions(audience = text("audience"), nonce = text("nonce"))
        )
        "sign_out" -> assay.signOut(
            required("provider"),
            SignOutOptions(
                audience = text("audience"), idTokenHint = text("id_token_hint"), issuer = text("issuer"),
                postLogoutRedirectUri = text("post_logout_redirect_uri"), logoutHint = text("logout_hint"),
                uiLocales = text("ui_locales"), connection = text("connection"), claimValues = map("claim_values"),
                emailDomains = texts("email_domains")
            )
        )
        "verify" -> assay.verify(
            required("id_token"), text("nonce"),
            VerifyOptions(
                provider = text("provider"), audience = text("audience"), maxAge = number("max_age"),
                authenticatedAfter = number("authenticated_after"), subject = text("subject"), issuer = text("issuer"),
                accessToken = text("access_token"), code = text("code"), user = map("user"), includeClaims = flag("include_claims"),
                connection = text("connection"), claimValues = map("claim_values"), emailDomains = texts("email_domains")
            ),
            flag("single_use") ?: false
        )
        "verify_access_token" -> assay.verifyAccessToken(
            required("token"),
            AccessTokenOptions(
                resource = text("resource"), provider = text("provider"), audience = text("audience"), subject = text("subject"), issuer = text("issuer"),
                authenticatedAfter = number("authenticated_after"), scopes = texts("scopes"),
                includeClaims = flag("include_claims"), certificate = text("certificate"),
                dpop = map("dpop")?.let { Dpop(it["proof"] as String, it["method"] as String, it["url"] as String, it["scheme"] as String) }
            )
        )
        else -> {
            val more = NotificationOptions(
                connection = text("connection"), issuer = text("issuer"), audience = text("audience"),
                claimValues = map("claim_values"), emailDomains = texts("email_domains")
            )
            if (has("payload")) assay.verifyAppleNotification(json("payload"), text("provider"), more)
            else assay.verifyNotification(required("token"), text("provider"), more)
        }
    }
}

fun answer(asked: JsonObject): Map<String, Any?> {
    val name = asked["call"].asString
    if (name == "codes") return mapOf("result" to Code.all.sorted())
    val assay = client(asked["client"].asJsonObject)
    if (name == "fake") {
        val fake = assay as FakeAssay
        return mapOf("result" to mapOf("requests" to fake.requests.map { snake(it.call) }, "waited" to fake.waited / 1000))
    }
    if (name == "example") return mapOf("result" to finish(assay, "the-secret-handle", "the.secret.token").toList())
    try {
        val result = call(assay, name, With(asked["with"].asJsonObject))
        return mapOf("result" to if (result is Unit) null else result, "printed" to "$result")
    } catch (error: AssayException) {
        val kind = if (error is Refused) "refused" else if (error is Unavailable) "unavailable" else "error"
        val members = mapOf(
            "kind" to kind, "status" to error.status, "code" to error.code, "detail" to error.detail, "spent" to error.spent,
            "retry_after" to error.retryAfter, "may_retry" to error.mayRetry, "request_id" to error.requestId,
            "claim" to error.claim, "provider_error" to error.providerError, "context" to error.context,
            "challenge" to error.challenge, "dpop_nonce" to error.dpopNonce
        )
        return mapOf("error" to members, "printed" to "$error")
    }
}

fun main() {
    while (true) {
        val line = readLine() ?: return
        val said = try {
            answer(JsonParser.parseString(line).asJsonObject)
        } catch (failure: Exception) {
            mapOf("failed" to "$failure ${failure.stackTrace.take(3)}")
        }
        println(gson.toJson(said))
    }
}
