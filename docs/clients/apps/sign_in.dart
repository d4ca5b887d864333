// Flutter: signs in with Apple and with Google, in a sign-in that the backend began. The app keeps its `sign_in` in memory.

import 'package:google_sign_in/google_sign_in.dart';
import 'package:sign_in_with_apple/sign_in_with_apple.dart';

/// iOS, by `sign_in_with_apple`, with the backend's `nonce_sha256`. Returns the JSON for the backend, or
/// `null` if the user cancelled.
Future<Map<String, Object?>?> signInWithApple(String nonceSha256) async {
  try {
    final credential = await SignInWithApple.getAppleIDCredential(
      scopes: [AppleIDAuthorizationScopes.fullName, AppleIDAuthorizationScopes.email],
      // The package passes it on unchanged: Assay's preset `apple` expects the hash.
      nonce: nonceSha256,
    );
    final hasName = credential.givenName != null || credential.familyName != null;
    return {
      'id_token': credential.identityToken,
      // Only at a user's first sign-in.
      if (hasName) 'user': {'name': {'firstName': credential.givenName, 'lastName': credential.familyName}},
    };
  } on SignInWithAppleAuthorizationException catch (error) {
    if (error.code == AuthorizationErrorCode.canceled) return null;
    rethrow;
  }
}

String? _googleNonce;

/// iOS and Android, by `google_sign_in` 7. `serverClientId` is the backend's client ID, the token's audience.
///
/// The package takes a nonce at `initialize`, which may be called once while the app runs. So after a cancelled sign-in, try
/// again with the same `nonce` and `sign_in`; after a finished one, the next needs an app restart.
Future<Map<String, Object?>?> signInWithGoogle(String serverClientId, String nonce) async {
  if (_googleNonce == null) {
    _googleNonce = nonce;
    await GoogleSignIn.instance.initialize(serverClientId: serverClientId, nonce: nonce);
  }
  if (_googleNonce != nonce) throw StateError('google_sign_in would use the nonce of an earlier sign-in');
  try {
    final account = await GoogleSignIn.instance.authenticate();
    return {'id_token': account.authentication.idToken};
  } on GoogleSignInException catch (error) {
    if (error.code == GoogleSignInExceptionCode.canceled) return null;
    rethrow;
  }
}
