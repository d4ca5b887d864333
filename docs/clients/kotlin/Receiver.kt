package assay

import com.google.gson.JsonElement
import com.google.gson.JsonParseException
import com.google.gson.JsonParser
import java.net.URLDecoder

/** Receives notifications from providers: Apple's, logout tokens and security events, all at one URL. */
class Receiver(
    private val assay: Assay,
    /**
     * Acts on a notification's events unless it has done so before. In one transaction: insert `provider` and `id` into
     * `notifications`; if they were there already, do nothing; otherwise act on each event.
     */
    private val once: (Notification) -> Unit
) {
    /** Returns the status for the response to the sender. Assay's log has the reason for a refusal. */
    fun receive(contentType: String, body: String): Int {
        val type = contentType.substringBefore(';').trim()
        val notification = try {
            when {
                type.equals("application/x-www-form-urlencoded", ignoreCase = true) ->
                    assay.notification(token = logoutToken(body) ?: return 400)
                type.equals("application/secevent+jwt", ignoreCase = true) -> assay.notification(token = body.trim())
                else -> assay.notification(payload = json(body) ?: return 400)
            }
        } catch (error: AssayException) {
            return when (error.status) {
                0, 503 -> 503 // The sender tries again later.
                400, 404, 422 -> 400 // Another delivery would not help.
                else -> 500
            }
        }
        // If it throws, answer with 500: the sender tries again, and nothing is marked as processed.
        once(notification)
        return 200
    }

    private fun logoutToken(form: String): String? =
        form.split('&').firstOrNull { it.startsWith("logout_token=") }
            ?.let { URLDecoder.decode(it.substringAfter('='), "UTF-8") }

    private fun json(text: String): JsonElement? =
        try {
            JsonParser.parseString(text)
        } catch (error: JsonParseException) {
            null
        }
}
