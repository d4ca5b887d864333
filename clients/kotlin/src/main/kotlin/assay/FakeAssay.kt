package assay

/**
 * A client for your own tests, whose answers the test writes. All rules of the real one apply; waiting takes no time.
 *
 *     val assay = FakeAssay()
 *     assay.will("finish", mapOf("identity" to mapOf("subject" to "user-1")))
 *     assay.willFail("finish", 422, Code.TOKEN_EXPIRED)
 *     assay.willNotAnswer("finish", sent = true)
 *
 * Calls have the names of the functions. Answers are used in their order, for each call. A call without one throws
 * [IllegalStateException].
 */
class FakeAssay private constructor(private val fake: FakeTransport) : Assay(transport = fake) {
    constructor() : this(FakeTransport())

    /** A request that would have been sent. */
    data class Request(val call: String, val members: Map<String, Any?>)

    /** Every request that would have been sent. */
    val requests: List<Request> get() = fake.requests

    /** Milliseconds that the client would have waited before it sent a request again. */
    val waited: Long get() = fake.waited

    /** [call] succeeds. [changes] change an example: `identity.subject` keeps the other members of `identity`. */
    @JvmOverloads
    fun will(call: String, changes: Map<String, Any?> = emptyMap()) {
        val status = if (call.startsWith("begin")) 201 else if (call.startsWith("revoke")) 204 else 200
        val name = call.replace(Regex("[A-Z]")) { "_" + it.value.toLowerCase() }
        val example = (JsonReader.read(EXAMPLES) as Map<*, *>)[name]
        fake.add(call, Reply(status, if (status == 204) "" else json(merged(example, changes))))
    }

    /** [call] fails with this problem, for example with `spent`. */
    @JvmOverloads
    fun willFail(call: String, status: Int, code: String, members: Map<String, Any?> = emptyMap(), retryAfter: Int? = null) {
        val problem = mapOf("status" to status, "code" to code, "detail" to "scripted", "request_id" to "fake") + members
        fake.add(call, Reply(status, json(problem), retryAfter))
    }

    /** The connection fails: after the request was sent, or before. */
    fun willNotAnswer(call: String, sent: Boolean) = fake.add(call, NoAnswer(sent))

    private fun merged(example: Any?, changes: Any?): Any? =
        if (example !is Map<*, *> || changes !is Map<*, *>) changes
        else example + changes.mapValues { (name, value) -> merged(example[name], value) }

    internal class FakeTransport : Transport {
        val requests = ArrayList<Request>()
        var waited = 0L
        private val answers = HashMap<String, ArrayList<Any>>()

        fun add(call: String, answer: Any) {
            answers.getOrPut(if (call == "revokeCode") "revoke" else call) { ArrayList() } += answer
        }

        override fun send(path: String, body: String, headers: Map<String, String>, timeout: Long, once: Boolean): Reply {
            @Suppress("UNCHECKED_CAST")
            val members = JsonReader.read(body) as Map<String, Any?>
            val isInBrowser = "response" in members || path == "/v1/sign-ins" && "redirect_uri" in members
            val call = CALLS.getValue(path) + if (isInBrowser) "InBrowser" else ""
            requests += Request(call, members)
            val scripted = answers[call]
            check(scripted != null && scripted.isNotEmpty()) { "no answer is left for $call: call will(\"$call\", …) first" }
            val answer = scripted.removeAt(0)
            return answer as? Reply ?: throw answer as NoAnswer
        }

        override fun now(): Long = waited

        override fun sleep(milliseconds: Long) {
            waited += milliseconds
        }
    }

    private companion object {
        val CALLS = mapOf(
            "/v1/sign-ins" to "begin", "/v1/sign-ins/finish" to "finish", "/v1/grants/refresh" to "refresh",
            "/v1/grants/revoke" to "revoke", "/v1/verify" to "verify", "/v1/access-tokens/verify" to "verifyAccessToken",
            "/v1/notifications/verify" to "verifyNotification", "/v1/sign-outs" to "signOut", "/v1/grants/proof" to "proof"
        )
    }
}
