import assay.Assay
import assay.AssayException
import assay.Event
import assay.Notification
import java.net.URLDecoder

/** Receives notifications from providers: Apple's, logout tokens and security events, all at one URL. */
class Receiver(
    private val assay: Assay,
    /**
     * Acts on a notification's events unless it has done so before. In one transaction: insert `provider` and `id` into
     * `notifications`; if they were there already, do nothing; otherwise act on each event.
     */
    private val once: (Notification, List<Event>) -> Unit
) {
    /** Returns the status for the response to the sender. Assay's log has the reason for a refusal. */
    fun receive(contentType: String, body: String): Int {
        val type = contentType.substringBefore(';').trim()
        val verified = try {
            when {
                type.equals("application/x-www-form-urlencoded", ignoreCase = true) ->
                    assay.verifyNotification(logoutToken(body) ?: return 400)
                type.equals("application/secevent+jwt", ignoreCase = true) -> assay.verifyNotification(body.trim())
                else -> assay.verifyAppleNotification(body)
            }
        } catch (error: IllegalArgumentException) {
            return 400
        } catch (error: AssayException) {
            // 503: the sender tries again later. 400: that would not help, because it would be refused again.
            return if (error.mayRetry) 503 else if (error.status in setOf(400, 404, 422)) 400 else 500
        }
        // If it throws, answer with 500: the sender tries again, and nothing is marked as processed.
        once(verified.notification, verified.events)
        return 200
    }

    private fun logoutToken(form: String): String? =
        form.split('&').firstOrNull { it.startsWith("logout_token=") }
            ?.let { URLDecoder.decode(it.substringAfter('='), "UTF-8") }
}
