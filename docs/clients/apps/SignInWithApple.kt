// Android: signs in with Apple on Apple's page, in a Custom Tab. The backend begins, makes the page's address, gets Apple's
// answer, and redirects to an app link that only this app may open (`android:autoVerify="true"`).

import android.content.Context
import android.net.Uri
import androidx.browser.customtabs.CustomTabsIntent

/**
 * One sign-in. `signIn` is the backend's `sign_in`: keep it until the app link comes back, in saved state as well, since the
 * process may end meanwhile, and nowhere else.
 */
class SignInWithApple(private val signIn: String) {
    /** `url` is Apple's page, as the backend sent it. */
    fun open(activity: Context, url: String) = CustomTabsIntent.Builder().build().launchUrl(activity, Uri.parse(url))

    /** Returns the JSON for the backend, from the app link of `onNewIntent`; `null` if the link has an error instead of a ticket. */
    fun finish(link: Uri): Map<String, String>? =
        link.getQueryParameter("ticket")?.let { mapOf("ticket" to it, "sign_in" to signIn) }
}
