// Runs the conformance cases with the installed package: reads calls as JSON, one per line, and writes what they return.

import { createInterface } from "node:readline";
import { Assay, AssayError, FakeAssay, Refused, Unavailable, problemCodes } from "assay-client";
import type { CallName } from "assay-client";
import { finish } from "./example.mjs";

declare const process: { stdin: unknown; exit(code: number): void };

const clients = new Map<string, any>();

const camel = (name: string) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()) as CallName;

function client(options: any): any {
  const name = JSON.stringify(options);
  if (!clients.has(name)) {
    const { script, case: _, ...members } = options;
    const named = Object.fromEntries(Object.entries(members).map(([name, value]) => [camel(name), value]));
    const made = script ? new FakeAssay(named) : new Assay(named);
    if (made instanceof FakeAssay)
      for (const each of script) {
        if (each.will) made.will(camel(each.will), each.members);
        else if (each.fail) made.willFail(camel(each.fail), each.status, each.code, each.members, each.retry_after);
        else made.willNotAnswer(camel(each.no_answer), each);
      }
    clients.set(name, made);
  }
  return clients.get(name);
}

function call(assay: Assay, name: string, members: any): Promise<unknown> {
  const { provider, redirect_uri, sign_in, id_token, response, refresh_token, subject, token, code, nonce, ...options } = members;
  const only = (more: object): any => ({ ...more, ...options });
  switch (name) {
    case "begin":
      return assay.begin(provider, only({ subject }));
    case "begin_in_browser":
      return assay.beginInBrowser(provider, redirect_uri, only({ subject }));
    case "finish":
      return assay.finish(sign_in, id_token ?? null, only({ code, redirect_uri }));
    case "finish_in_browser":
      return assay.finishInBrowser(sign_in, response, redirect_uri, options);
    case "refresh":
      return assay.refresh(provider, refresh_token, subject, options);
    case "proof": {
      const { binding, access_token, method, url, ...rest } = only({ nonce });
      return assay.proof(provider, binding, access_token, method, url, rest);
    }
    case "sign_out":
      return assay.signOut(provider, options);
    case "revoke":
      return assay.revoke(provider, token, options);
    case "revoke_code":
      return assay.revokeCode(provider, code, only({ redirect_uri, subject }));
    case "verify": {
      const { single_use, ...rest } = options;
      return assay.verify(id_token, nonce, { provider, subject, code, ...rest }, { singleUse: single_use });
    }
    case "verify_access_token":
      return assay.verifyAccessToken(token, only({ provider, subject }));
    default:
      return assay.verifyNotification(only({ token, provider }));
  }
}

async function answer(asked: any): Promise<object> {
  if (asked.call === "codes") return { result: [...problemCodes].sort() };
  const assay = client(asked.client);
  if (asked.call === "fake") {
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { result: { requests: assay.requests.map((each: any) => snake(each.call)), waited: assay.waited } };
  }
  if (asked.call === "example") return { result: await finish(assay, "the-secret-handle", "the.secret.token") };
  try {
    return { result: (await call(assay, asked.call, asked.with)) ?? null };
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    const kind = error instanceof Refused ? "refused" : error instanceof Unavailable ? "unavailable" : "error";
    const { status, code, detail, spent, claim, context, challenge, retryAfter, mayRetry, requestId, providerError } = error;
    const names = { retry_after: retryAfter, may_retry: mayRetry, request_id: requestId, provider_error: providerError, dpop_nonce: error.dpopNonce };
    return { error: { kind, status, code, detail, spent, claim, context, challenge, ...names }, printed: `${error} ${JSON.stringify(error)}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  } catch (failure) {
    console.log(JSON.stringify({ failed: String(failure) }));
  }
}
process.exit(0);
