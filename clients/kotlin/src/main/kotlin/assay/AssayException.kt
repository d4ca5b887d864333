package assay

/**
 * A call that failed. Its message is for the log: it has no token, no handle and no nonce.
 *
 * If it is neither [Refused] nor [Unavailable], the caller, the settings or the provider is at fault: raise an alert.
 */
open class AssayException internal constructor(
    /** The HTTP status; 0 if there was no answer. */
    val status: Int,
    /** Whether the sign-in, code, token, nonce or proof is, or may be, used up. Never send it again. */
    val spent: Boolean,
    /** Seconds before the same request may succeed. */
    val retryAfter: Int?,
    /** The whole problem, for members that this version does not know. */
    val members: Map<String, Any?>
) : RuntimeException(text(status, spent, members)) {
    /** One of [Code]; `null` if there was no answer, or if it was not Assay's. */
    val code: String? get() = members["code"] as? String
    /** For people; it may change. */
    val detail: String? get() = members["detail"] as? String
    /** The same as in Assay's log. */
    val requestId: String? get() = members["request_id"] as? String
    /** The claim that is missing or invalid. */
    val claim: String? get() = members["claim"] as? String
    /** The provider's error code. */
    val providerError: String? get() = members["provider_error"] as? String
    /** The begin call's, if the user or the provider ended the sign-in. Don't log it. */
    val context: String? get() = members["context"] as? String
    /** How to answer the client that sent an access token; only for a call with `resource`. */
    val challenge: Challenge? get() = try {
        Members(members).modelOrNull("challenge") { Challenge.of(it) }
    } catch (_: NotAssays) {
        null
    }
    /** What the next proof of this client must have, as `DPoP-Nonce` of your response. */
    val dpopNonce: String? get() = members["dpop_nonce"] as? String

    /** Whether the same request may be sent again, after [retryAfter] seconds. The client did so, for as long as it may. */
    val mayRetry: Boolean get() = !spent && (status == 0 || status == 503)

    internal companion object {
        fun of(status: Int, spent: Boolean, retryAfter: Int? = null, members: Map<String, Any?> = emptyMap()) = when {
            // A refusal without a code is not Assay's.
            status == 422 && members["code"] is String -> Refused(spent, retryAfter, members)
            status == 0 || status == 503 -> Unavailable(status, spent, retryAfter, members)
            else -> AssayException(status, spent, retryAfter, members)
        }
    }
}

/** Sign nobody in (status 422): the same request will be refused again. Show users one message for all codes. */
class Refused internal constructor(spent: Boolean, retryAfter: Int?, members: Map<String, Any?>) :
    AssayException(422, spent, retryAfter, members)

/** Nobody can decide now (status 503, or 0 without an answer). Unless [spent], the same request may succeed later. */
class Unavailable internal constructor(status: Int, spent: Boolean, retryAfter: Int?, members: Map<String, Any?>) :
    AssayException(status, spent, retryAfter, members)

private fun text(status: Int, spent: Boolean, members: Map<String, Any?>): String = when {
    status == 0 -> "Assay did not answer" + (if (spent) ", but may have got the request" else "") +
        (members["detail"]?.let { ": $it" } ?: "")
    members["code"] !is String -> "The answer with status $status is not one of Assay's"
    else -> "Assay answered $status ${members["code"]}: ${members["detail"]} (request ${members["request_id"]})"
}
