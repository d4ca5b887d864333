// The backend's side of sign-ins: reads what apps ask as JSON, one request a line, and writes the answers.
//
//   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
//   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back what it kept, and what the provider gave it
//   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
//   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   what a provider sends later

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

async function answer({ begin, finish, verify, receive }: any): Promise<object> {
  if (receive) {
    done = [];
    return { answered: await receiver.receive(receive.content_type, receive.body), done };
  }
  if (begin) {
    const { provider, ...options } = begin;
    return { begun: await assay.begin(provider, options) };
  }
  if (finish) {
    const { sign_in, id_token, ...options } = finish;
    return { finished: await assay.finish(sign_in, id_token, options) };
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
    return { error: error.status, code: error.code, spent: error.spent, log: error.message };
  });
  console.log(JSON.stringify(said));
}
