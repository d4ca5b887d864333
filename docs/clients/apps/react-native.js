// React Native: calls the common packages. Each function returns the JSON for the backend, or `null` if the user cancelled.
// The backend began the sign-in: the app keeps its `sign_in` in memory, and has its `nonce` and `nonce_sha256`.

/** Apple's names as the backend passes them on; `undefined` after a user's first sign-in. */
function appleUser(fullName) {
  if (!fullName?.givenName && !fullName?.familyName) return undefined;
  return { name: { firstName: fullName.givenName ?? null, lastName: fullName.familyName ?? null } };
}

/** `@invertase/react-native-apple-authentication`, iOS. The package hashes the nonce itself, so it gets `nonce`. */
export async function signInWithApple(appleAuth, nonce) {
  try {
    const { identityToken, fullName } = await appleAuth.performRequest({
      requestedOperation: appleAuth.Operation.LOGIN,
      requestedScopes: [appleAuth.Scope.FULL_NAME, appleAuth.Scope.EMAIL],
      nonce,
    });
    return { id_token: identityToken, user: appleUser(fullName) };
  } catch (error) {
    if (error.code === appleAuth.Error.CANCELED) return null;
    throw error;
  }
}

/** `expo-apple-authentication`, iOS. The package hands the nonce on as it gets it, so it gets `nonce_sha256`. */
export async function signInWithAppleByExpo(AppleAuthentication, nonceSha256) {
  try {
    const { identityToken, fullName } = await AppleAuthentication.signInAsync({
      requestedScopes: [AppleAuthentication.AppleAuthenticationScope.FULL_NAME, AppleAuthentication.AppleAuthenticationScope.EMAIL],
      nonce: nonceSha256,
    });
    return { id_token: identityToken, user: appleUser(fullName) };
  } catch (error) {
    if (error.code === "ERR_REQUEST_CANCELED") return null;
    throw error;
  }
}

/**
 * `@react-native-google-signin/google-signin`, its Universal Sign In, iOS and Android. `signIn` may answer with an older
 * token, which has another nonce; this always asks for a new one. `webClientId` is the backend's, the token's audience.
 */
export async function signInWithGoogle(GoogleOneTapSignIn, webClientId, nonce) {
  GoogleOneTapSignIn.configure({ webClientId });
  const response = await GoogleOneTapSignIn.presentExplicitSignIn({ nonce });
  return response.type === "success" ? { id_token: response.data.idToken } : null;
}
