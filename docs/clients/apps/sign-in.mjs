// The web: what a page gives Apple's and Google's scripts. The nonce is the one that the backend made for this sign-in.

/** Lower-case hexadecimal, as Assay's preset `apple` expects it. Browsers have `crypto.subtle` on https pages. */
export async function sha256(nonce) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(nonce));
  return Array.from(new Uint8Array(digest), (octet) => octet.toString(16).padStart(2, "0")).join("");
}

/**
 * Sign in with Apple JS. Returns what the backend is to be sent, `null` where the person cancelled; `user` comes at a
 * person's first sign-in alone.
 */
export async function signInWithApple(AppleID, { clientId, redirectURI, nonce }) {
  AppleID.auth.init({ clientId, redirectURI, scope: "name email", usePopup: true, nonce: await sha256(nonce) });
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
