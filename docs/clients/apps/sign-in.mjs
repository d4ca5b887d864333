// The web: calls Apple's and Google's scripts. The backend began the sign-in: the page has its `nonce` and `nonce_sha256`,
// and the browser has its `sign_in`, in a cookie that the page can't read.

/**
 * Sign in with Apple JS. Returns the JSON for the backend, or `null` if the user cancelled. It has `user` only at the
 * user's first sign-in.
 */
export async function signInWithApple(AppleID, { clientId, redirectURI, nonceSha256 }) {
  AppleID.auth.init({ clientId, redirectURI, scope: "name email", usePopup: true, nonce: nonceSha256 });
  try {
    const { authorization, user } = await AppleID.auth.signIn();
    return { provider: "apple", id_token: authorization.id_token, user };
  } catch (refusal) {
    if (["popup_closed_by_user", "user_cancelled_authorize"].includes(refusal?.error)) return null;
    throw refusal;
  }
}

/** Sign In With Google. Calls `send` with the JSON for the backend; not if the user cancels. */
export function offerGoogle(google, { clientId, nonce, button, send }) {
  const callback = ({ credential }) => send({ provider: "google", id_token: credential });
  google.accounts.id.initialize({ client_id: clientId, nonce, callback });
  google.accounts.id.renderButton(button, {});
}
