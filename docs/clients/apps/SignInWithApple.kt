// Android: signs in with Apple on Apple's page, in a Custom Tab. The backend makes the page's address, gets Apple's
// answer, and redirects to an app link that only this app may open (`android:autoVerify="true"`).

import android.content.Context
import android.net.Uri
import android.util.Base64
import androidx.browser.customtabs.CustomTabsIntent
import java.security.MessageDigest
import java.security.SecureRandom

/** One sign-in. Keep it until the app link comes back, in saved state as well: the process may end meanwhile. */
class SignInWithApple(private val verifier: String = random()) {
    /** For the backend, which answers with the address of Apple's page. */
    val challenge: String get() = base64url(MessageDigest.getInstance("SHA-256").digest(verifier.toByteArray()))

    fun open(activity: Context, url: String) = CustomTabsIntent.Builder().build().launchUrl(activity, Uri.parse(url))

    /** What the backend is to be sent after the app link of `onNewIntent`; `null` where it says why there is nobody. */
    fun finish(link: Uri): Map<String, String>? =
        link.getQueryParameter("code")?.let { mapOf("code" to it, "verifier" to verifier) }

    private companion object {
        fun random() = base64url(ByteArray(32).also(SecureRandom()::nextBytes))

        fun base64url(bytes: ByteArray): String =
            Base64.encodeToString(bytes, Base64.URL_SAFE or Base64.NO_PADDING or Base64.NO_WRAP)
    }
}
