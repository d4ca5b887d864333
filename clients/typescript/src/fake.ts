import { Assay, AssayOptions } from "./client.js";
import { examples } from "./models.js";
import { NoAnswer, Reply, Transport } from "./transport.js";

export type CallName =
  | "begin"
  | "beginInBrowser"
  | "finish"
  | "finishInBrowser"
  | "proof"
  | "refresh"
  | "revoke"
  | "revokeCode"
  | "signOut"
  | "verify"
  | "verifyAccessToken"
  | "verifyNotification";

/** Changes of an example; members of members, too. */
export type Changes = { [name: string]: unknown };

const paths: Record<string, CallName> = {
  "/v1/sign-ins": "begin",
  "/v1/sign-ins/finish": "finish",
  "/v1/grants/refresh": "refresh",
  "/v1/grants/proof": "proof",
  "/v1/grants/revoke": "revoke",
  "/v1/sign-outs": "signOut",
  "/v1/verify": "verify",
  "/v1/access-tokens/verify": "verifyAccessToken",
  "/v1/notifications/verify": "verifyNotification",
};

/**
 * A client for your own tests, whose answers the test writes. All rules of the real one apply; waiting takes no time.
 *
 *     const assay = new FakeAssay();
 *     assay.will("finish", { identity: { subject: "user-1" } });
 *     assay.willFail("finish", 422, "token_expired");
 *     assay.willNotAnswer("finish", { sent: true });
 *
 * Answers are used in their order, for each call. A call without one throws.
 */
export class FakeAssay extends Assay {
  readonly #fake: Fake;

  constructor(options: Omit<AssayOptions, "transport"> = {}) {
    const fake = new Fake();
    super({ ...options, transport: fake });
    this.#fake = fake;
  }

  /** The call succeeds. `members` change an example: `{ identity: { subject: "user-1" } }` keeps its other members. */
  will(call: CallName, members: Changes = {}): void {
    const status = call.startsWith("begin") ? 201 : call.startsWith("revoke") ? 204 : 200;
    const name = call.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const example = JSON.parse(examples)[name];
    this.#fake.add(call, { status, body: status === 204 ? "" : JSON.stringify(merged(example, members)) });
  }

  /** The call fails with this problem, for example with `{ spent: true }`. */
  willFail(call: CallName, status: number, code: string, members: Changes = {}, retryAfter?: number): void {
    const problem = { status, code, detail: "scripted", request_id: "fake", ...members };
    this.#fake.add(call, { status, body: JSON.stringify(problem), retryAfter });
  }

  /** The connection fails: after the request was sent, or before. */
  willNotAnswer(call: CallName, { sent }: { sent: boolean }): void {
    this.#fake.add(call, new NoAnswer(sent));
  }

  /** Every request that would have been sent. */
  get requests(): { call: CallName; members: Record<string, unknown> }[] {
    return this.#fake.requests;
  }

  /** Seconds that the client would have waited before it sent a request again. */
  get waited(): number {
    return this.#fake.waited / 1000;
  }
}

class Fake implements Transport {
  readonly requests: { call: CallName; members: Record<string, unknown> }[] = [];
  waited = 0;
  readonly #answers = new Map<CallName, (Reply | NoAnswer)[]>();

  add(call: CallName, answer: Reply | NoAnswer): void {
    const name = call === "revokeCode" ? "revoke" : call;
    this.#answers.set(name, [...(this.#answers.get(name) ?? []), answer]);
  }

  async send(path: string, body: string): Promise<Reply> {
    const members = JSON.parse(body);
    let call = paths[path];
    if (call === "begin" && members.redirect_uri) call = "beginInBrowser";
    if (call === "finish" && members.response) call = "finishInBrowser";
    this.requests.push({ call, members });
    const answer = this.#answers.get(call)?.shift();
    if (answer === undefined) throw new Error(`no answer is left for ${call}: call will("${call}", …) first`);
    if (answer instanceof NoAnswer) throw answer;
    return answer;
  }

  now(): number {
    return this.waited;
  }

  async sleep(milliseconds: number): Promise<void> {
    this.waited += milliseconds;
  }
}

function merged(example: any, changes: any): any {
  const isObject = (value: any) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(example) || !isObject(changes)) return changes;
  const made = { ...example };
  for (const [name, value] of Object.entries(changes)) made[name] = merged(made[name], value);
  return made;
}
