// Reads sign-ins as JSON, one a line, and says of each what Assay said.

import com.google.gson.FieldNamingPolicy
import com.google.gson.GsonBuilder

private val gson = GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()

private fun Assay.said(signIn: SignIn): Map<String, Any?> =
    try {
        when (val verdict = verify(signIn)) {
            is Verdict.Verified -> mapOf("verified" to verdict.identity)
            is Verdict.Refused -> mapOf("refused" to verdict.code)
            is Verdict.Unavailable -> mapOf("unavailable" to verdict.retryAfter.seconds)
        }
    } catch (error: AssayException) {
        mapOf("error" to error.status, "code" to error.code)
    }

fun main() {
    val assay = Assay(System.getenv("ASSAY_URL") ?: "http://127.0.0.1:8080", System.getenv("ASSAY_API_KEY"))
    for (line in generateSequence(::readLine)) {
        println(gson.toJson(assay.said(gson.fromJson(line, SignIn::class.java))))
    }
}
