// The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
//
//   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
//   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
//   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
//
// The other calls work the same way, by name. A real backend never sends a grant to an app.

import { createInterface } from "node:readline";
import { Assay, AssayError } from "./assay.mjs";
import { Receiver } from "./receiver.mjs";

const assay = new Assay({ url: process.env.ASSAY_URL, apiKey: process.env.ASSAY_API_KEY });

// Stands in for the database.
const known = new Set<string>();
let done: string[] = [];
const receiver = new Receiver(assay, async ({ provider, id, events }) => {
  if (known.has(`${provider} ${id}`)) return;
  known.add(`${provider} ${id}`);
  done = events.map((event) => event.type);
});

async function answer(request: any): Promise<object> {
  const { begin, begin_in_browser, finish, finish_in_browser, verify, refresh, revoke, revoke_by_code, receive } = request;
  if (receive) {
    done = [];
    return { answered: await receiver.receive(receive.content_type, receive.body), done };
  }
  if (begin) {
    const { provider, ...options } = begin;
    return { begun: await assay.begin(provider, options) };
  }
  if (begin_in_browser) {
    const { provider, redirect_uri, ...options } = begin_in_browser;
    return { begun_in_browser: await assay.beginInBrowser(provider, redirect_uri, options) };
  }
  if (finish) {
    const { sign_in, id_token, ...options } = finish;
    return { finished: await assay.finish(sign_in, id_token, options) };
  }
  if (finish_in_browser) {
    const { sign_in, response, redirect_uri } = finish_in_browser;
    return { finished: await assay.finishInBrowser(sign_in, response, redirect_uri) };
  }
  if (refresh) {
    const { provider, refresh_token, subject, ...options } = refresh;
    return { refreshed: await assay.refresh(provider, refresh_token, subject, options) };
  }
  if (revoke) {
    const { provider, token, ...options } = revoke;
    await assay.revoke(provider, token, options);
    return { revoked: true };
  }
  if (revoke_by_code) {
    const { provider, code, ...options } = revoke_by_code;
    await assay.revokeByCode(provider, code, options);
    return { revoked: true };
  }
  const { single_use: singleUse, ...signIn } = verify;
  const verdict = await assay.verify(signIn, { singleUse });
  switch (verdict.kind) {
    case "verified":
      return { verified: verdict.identity };
    case "refused":
      return { refused: verdict.code };
    case "unavailable":
      return { unavailable: verdict.retryAfter };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const said = await answer(JSON.parse(line)).catch((error) => {
    if (!(error instanceof AssayError)) throw error;
    // The text of the error is for the log. It has no token and no handle.
    const { status, code, spent, message, providerError, context } = error;
    return { error: status, code, spent, log: message, provider_error: providerError, context };
  });
  console.log(JSON.stringify(said));
}
