// The web: what a page gives Apple's and Google's scripts. The backend began the sign-in: the page has its `nonce` and
// `nonce_sha256`, and the browser its `sign_in`, in a cookie that the page can't read.

/**
 * Sign in with Apple JS. Returns what the backend is to be sent, `null` where the person cancelled; `user` comes at a
 * person's first sign-in alone.
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

/** Sign In With Google. `send` gets what the backend is to be sent; where the person cancels, it is not called. */
export function offerGoogle(google, { clientId, nonce, button, send }) {
  const callback = ({ credential }) => send({ provider: "google", id_token: credential });
  google.accounts.id.initialize({ client_id: clientId, nonce, callback });
  google.accounts.id.renderButton(button, {});
}
