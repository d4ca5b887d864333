// Android: signs in with Google by Credential Manager, in a sign-in that the backend began.

import android.content.Context
import androidx.credentials.CredentialManager
import androidx.credentials.GetCredentialRequest
import androidx.credentials.exceptions.GetCredentialCancellationException
import com.google.android.libraries.identity.googleid.GetSignInWithGoogleOption
import com.google.android.libraries.identity.googleid.GoogleIdTokenCredential

/**
 * Returns the ID Token, which the app sends with its `sign_in` to the backend, or `null` if the user cancelled.
 * `serverClientId` is the backend's client ID (of type "web"), the token's audience; `nonce` is the backend's.
 */
suspend fun signInWithGoogle(activity: Context, serverClientId: String, nonce: String): String? {
    val option = GetSignInWithGoogleOption.Builder(serverClientId)
        .setNonce(nonce) // Google puts it into the token as it is: Assay's preset `google` expects `plain`.
        .build()
    val request = GetCredentialRequest.Builder().addCredentialOption(option).build()
    return try {
        val result = CredentialManager.create(activity).getCredential(activity, request)
        GoogleIdTokenCredential.createFrom(result.credential.data).idToken
    } catch (_: GetCredentialCancellationException) {
        null
    }
}
