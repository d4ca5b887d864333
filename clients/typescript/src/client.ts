import { readFile } from "node:fs/promises";
import { AssayError, ErrorMembers, failure } from "./errors.js";
import * as models from "./models.js";
import { HTTPTransport, NoAnswer, Reply, Transport } from "./transport.js";

export interface AssayOptions {
  /** `http://…`, `https://…` or `unix:/path`; `http://127.0.0.1:8080` by default. */
  url?: string;
  apiKey?: string;
  /** Read for each call, so the key can be changed without a restart. */
  apiKeyFile?: string;
  /** Seconds that an attempt may take; 6 by default. */
  timeout?: number;
  /** The same for calls that wait for a provider: `finish`, `refresh`, `revoke`; 12 by default. */
  finishTimeout?: number;
  /** Seconds after the call in which another attempt may start; 5 by default, and 0 for none. */
  retryFor?: number;
  /** CA certificates to trust instead of the system's (PEM). */
  caFile?: string;
  transport?: Transport;
}

interface Kind {
  success?: number;
  /** Whether the request uses something up: it is then sent over a new connection, and not again after a lost answer. */
  usesUp?: boolean;
  /** Whether Assay may wait for the provider. */
  slow?: boolean;
}

/** Before these, nothing has been used up. */
const early = ["keys_unavailable", "overloaded", "shutting_down"];

/**
 * One for the whole program. Every call throws `AssayError`.
 *
 * A call is sent again only if nothing was used up: because the connection could not be opened, or Assay answered 503 and says so;
 * and calls that use nothing up, also after a lost answer. `Retry-After` is honoured, and no attempt starts later than `retryFor`
 * seconds after the call. So a call takes at most `retryFor` seconds and one timeout.
 */
export class Assay {
  readonly #apiKey?: string;
  readonly #apiKeyFile?: string;
  readonly #timeout: number;
  readonly #finishTimeout: number;
  readonly #retryFor: number;
  readonly #transport: Transport;

  constructor(options: AssayOptions = {}) {
    if (options.apiKey !== undefined && options.apiKeyFile !== undefined)
      throw new TypeError("give either apiKey or apiKeyFile");
    this.#apiKey = options.apiKey;
    this.#apiKeyFile = options.apiKeyFile;
    this.#timeout = (options.timeout ?? 6) * 1000;
    this.#finishTimeout = (options.finishTimeout ?? 12) * 1000;
    this.#retryFor = (options.retryFor ?? 5) * 1000;
    this.#transport = options.transport ?? new HTTPTransport(options.url ?? "http://127.0.0.1:8080", options.caFile);
  }

  /** Begins the sign-in of an app. */
  begin(provider: string, options: models.BeginOptions = {}): Promise<models.BegunSignIn> {
    return this.#call("/v1/sign-ins", { ...options, provider }, "BegunSignIn", { success: 201 });
  }

  /** Begins a sign-in in the browser. The client of the provider's settings must list `redirectUri`. */
  beginInBrowser(
    provider: string,
    redirectUri: string,
    options: models.BeginBrowserOptions = {},
  ): Promise<models.BegunBrowserSignIn> {
    const members = { ...options, provider, redirect_uri: redirectUri };
    return this.#call("/v1/sign-ins", members, "BegunBrowserSignIn", { success: 201 });
  }

  /** Finishes the sign-in of an app. `idToken` may be `null` if there is a `code`. */
  finish(signIn: string, idToken: string | null, options: models.FinishOptions = {}): Promise<models.FinishedSignIn> {
    const members = { ...options, sign_in: signIn, id_token: idToken ?? undefined };
    return this.#call("/v1/sign-ins/finish", members, "FinishedSignIn", { usesUp: true });
  }

  /** Finishes a sign-in in the browser. `response`: all parameters that `redirectUri` received. */
  finishInBrowser(
    signIn: string,
    response: Record<string, string>,
    redirectUri: string,
    options: models.FinishBrowserOptions = {},
  ): Promise<models.FinishedSignIn> {
    const members = { ...options, sign_in: signIn, response, redirect_uri: redirectUri };
    return this.#call("/v1/sign-ins/finish", members, "FinishedSignIn", { usesUp: true });
  }

  /** Redeems a refresh token. Store `grant.refresh_token`, if there is one, before anything else. */
  refresh(
    provider: string,
    refreshToken: string,
    subject: string,
    options: models.RefreshOptions = {},
  ): Promise<models.Refreshed> {
    const members = { ...options, provider, refresh_token: refreshToken, subject };
    return this.#call("/v1/grants/refresh", members, "Refreshed", { usesUp: true });
  }

  /** Revokes a token. It is safe to revoke one again. */
  revoke(provider: string, token: string, options: models.RevokeOptions = {}): Promise<void> {
    return this.#call("/v1/grants/revoke", { ...options, provider, token }, null, { success: 204, slow: true });
  }

  /** Exchanges the code of a native sign-in, and revokes its tokens. */
  revokeCode(provider: string, code: string, options: models.RevokeCodeOptions = {}): Promise<void> {
    return this.#call("/v1/grants/revoke", { ...options, provider, code }, null, { success: 204, usesUp: true });
  }

  /** Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one. */
  proof(
    provider: string,
    binding: string,
    accessToken: string,
    method: string,
    url: string,
    options: models.ProofOptions = {},
  ): Promise<models.Proof> {
    const members = { ...options, provider, binding, access_token: accessToken, method, url };
    return this.#call("/v1/grants/proof", members, "Proof", {});
  }

  /** Where the user signs out at the provider. End your own session first. */
  signOut(provider: string, options: models.SignOutOptions = {}): Promise<models.SignOut> {
    return this.#call("/v1/sign-outs", { ...options, provider }, "SignOut", {});
  }

  /**
   * Verifies an ID Token, without `begin` and `finish`. `nonce`: `null` only if the sign-in has none. `singleUse`: the provider has
   * `nonce.single_use` in Assay's settings.
   */
  verify(
    idToken: string,
    nonce: string | null,
    options: models.VerifyOptions = {},
    { singleUse = false } = {},
  ): Promise<models.Verified> {
    const members = { ...options, id_token: idToken, nonce: nonce ?? undefined };
    return this.#call("/v1/verify", members, "Verified", { usesUp: singleUse, slow: false });
  }

  /** Verifies an access token that your API got. A `dpop` proof can be used once. */
  verifyAccessToken(token: string, options: models.AccessTokenOptions = {}): Promise<models.VerifiedAccessToken> {
    const kind = { usesUp: Boolean(options.dpop), slow: false };
    return this.#call("/v1/access-tokens/verify", { ...options, token }, "VerifiedAccessToken", kind);
  }

  /** The metadata of a resource of Assay's settings (RFC 9728). Serve it as it is. */
  resourceMetadata(resource: string): Promise<Record<string, unknown>> {
    return this.#call(`/v1/resources/${encodeURIComponent(resource)}/metadata`, null, "ResourceMetadata", {});
  }

  /** Verifies what a provider sent: `token`, or `payload`, the body that Apple sent. */
  verifyNotification(
    sent: models.NotificationOptions & {
      token?: string;
      payload?: unknown;
      provider?: string;
    },
  ): Promise<models.VerifiedNotification> {
    return this.#call("/v1/notifications/verify", sent, "VerifiedNotification", {});
  }

  async #call<Answer>(path: string, members: object | null, shape: string | null, kind: Kind): Promise<Answer> {
    const { success = 200, usesUp = false, slow = usesUp } = kind;
    const body = members === null ? "" : JSON.stringify(members);
    const headers = await this.#authorization();
    if (members !== null) headers["Content-Type"] = "application/json";
    const timeout = slow ? this.#finishTimeout : this.#timeout;
    const end = this.#transport.now() + this.#retryFor;
    for (let lost = 0; ; ) {
      let error: AssayError;
      let wait: number;
      try {
        const reply = await this.#transport.send(path, body, headers, timeout, usesUp);
        if (reply.status === success) {
          const answer = shape === null ? undefined : parsed(reply.body);
          if (shape !== null && !fits(answer, shape)) throw failure(reply.status, { spent: usesUp });
          return answer as Answer;
        }
        error = problem(reply, usesUp);
        wait = (error.retryAfter || 1) * 1000;
      } catch (caught) {
        if (!(caught instanceof NoAnswer)) throw caught;
        error = failure(0, { detail: caught.detail, spent: usesUp && caught.sent });
        wait = Math.min(50 * (2 ** lost++ - 1), 1000);
      }
      if (!error.mayRetry || this.#transport.now() + wait > end) throw error;
      await this.#transport.sleep(wait);
    }
  }

  async #authorization(): Promise<Record<string, string>> {
    let key = this.#apiKey;
    if (this.#apiKeyFile !== undefined) {
      key = (await readFile(this.#apiKeyFile, "utf8")).trim();
      if (!key) throw new Error(`the API key's file ${this.#apiKeyFile} is empty`);
    }
    return key === undefined ? {} : { Authorization: `Bearer ${key}` };
  }
}

function problem(reply: Reply, usesUp: boolean): AssayError {
  const value = parsed(reply.body);
  const members = isObject(value) ? value : {};
  const text = (name: string) => (typeof members[name] === "string" ? (members[name] as string) : undefined);
  const code = text("code");
  let { spent } = members;
  if (typeof spent !== "boolean") {
    // Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
    spent = code === undefined || (reply.status === 503 && !early.includes(code));
    // A verification needs the store only for a single-use nonce or a proof.
    usesUp ||= code === "store_unavailable";
  }
  const error: ErrorMembers = {
    code,
    detail: text("detail"),
    requestId: text("request_id"),
    spent: usesUp && spent === true,
    retryAfter: reply.retryAfter,
    claim: text("claim"),
    providerError: text("provider_error"),
    context: text("context"),
    challenge: fits(members.challenge, "Challenge") ? (members.challenge as unknown as models.Challenge) : undefined,
    dpopNonce: text("dpop_nonce"),
    members,
  };
  return failure(reply.status, error);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const kinds: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  texts: (value) => isObject(value) && Object.values(value).every((each) => typeof each === "string"),
  object: isObject,
};

const shapes: typeof models.shapes = { ...models.shapes, ResourceMetadata: { resource: "string" } };

/** Whether an answer has every member of its type. Absent members become `null`; unknown ones stay. */
function fits(value: unknown, shape: string): boolean {
  return (
    isObject(value) &&
    Object.entries(shapes[shape]).every(([name, described]) => {
      const kind = described.replace("?", "");
      const member = (value[name] ??= null);
      if (member === null) return described.endsWith("?");
      if (kind.startsWith("[")) return Array.isArray(member) && member.every((each) => fits(each, kind.slice(1, -1)));
      return kind in kinds ? kinds[kind](member) : fits(member, kind);
    })
  );
}
