// Signs users in with Assay. Node 18 or later, no packages.

/** Who signed in. `issuer` and `subject` together are the key under which to store the user. */
export interface Identity {
  provider: string;
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: boolean | null;
  email_trust: "authoritative" | "verified" | "unverified" | null;
  is_private_email: boolean | null;
  name: string | null;
  given_name: string | null;
  family_name: string | null;
  name_source: "token" | "client" | null;
  preferred_username: string | null;
  picture: string | null;
  locale: string | null;
  real_user_status: "unsupported" | "unknown" | "likely_real" | null;
  transfer_subject: string | null;
  tenant: string | null;
  hosted_domain: string | null;
}

/** The parameters of the sign-in. */
export interface BeginOptions {
  audience?: string;
  max_age?: number;
  /** The only user who can finish it, and the issuer of this subject. */
  subject?: string;
  issuer?: string;
  /** The finish returns it. */
  context?: string | null;
  /** Seconds. */
  expires_in?: number;
}

/** The options that only a sign-in in the browser has. */
export interface BeginBrowserOptions extends BeginOptions {
  scopes?: string[];
  prompt?: string;
  login_hint?: string;
  ui_locales?: string;
  acr_values?: string;
  response_mode?: "query" | "form_post";
}

/**
 * A sign-in to be finished before `expires_at` (Unix seconds). The app gives the provider `nonce_sha256` or `nonce`.
 *
 * `sign_in` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
 * URL, or look it up by a value from a request.
 */
export interface BegunSignIn {
  sign_in: string;
  nonce: string;
  nonce_sha256: string;
  expires_at: number;
}

/**
 * A sign-in to be finished before `expires_at` (Unix seconds). Redirect the browser to `authorization_url`.
 *
 * `sign_in` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
 */
export interface BegunBrowserSignIn {
  sign_in: string;
  state: string;
  authorization_url: string;
  expires_at: number;
}

/** The other values that the app got. A code may replace the ID Token. */
export interface FinishOptions {
  access_token?: string;
  code?: string;
  /** The redirect URI that the app got the code with, if any. */
  redirect_uri?: string;
  /** The object that Apple gives the app at a user's first sign-in. */
  user?: object;
}

/**
 * The provider's tokens, for the backend only: never log them, or send them to an app or a page.
 *
 * Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refresh_token` is `null` after a
 * refresh, the old one stays valid. If `scopes` is `null`, the provider granted those that were requested.
 */
export interface Grant {
  access_token: string;
  token_type: string;
  expires_at: number | null;
  refresh_token: string | null;
  scopes: string[] | null;
  id_token: string | null;
}

/** Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged. */
export interface FinishedSignIn {
  identity: Identity;
  context: string | null;
  grant: Grant | null;
}

/** The values that you stored with the refresh token. `audience` is required if the provider has several clients. */
export interface RefreshOptions {
  issuer?: string;
  audience?: string;
  scopes?: string[];
}

/**
 * Store the new refresh token, if there is one, before anything else: the old one may be used up.
 *
 * `identity` is `null` if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
 * `keys_unavailable`.
 */
export interface Refreshed {
  grant: Grant;
  identity: Identity | null;
  problem: string | null;
}

export interface RevokeOptions {
  token_type_hint?: "refresh_token" | "access_token";
  audience?: string;
}

/** With `subject`, a code of another user is refused. */
export interface RevokeByCodeOptions {
  redirect_uri?: string;
  audience?: string;
  subject?: string;
  issuer?: string;
}

/** For `verify`, without `begin` and `finish`. */
export interface SignIn {
  provider: string;
  id_token: string;
  /** The nonce that this backend generated for this sign-in; `null` only if the provider does not support nonces. */
  nonce: string | null;
  audience?: string;
  max_age?: number;
  access_token?: string;
  code?: string;
  /** The object that Apple gives the app at a user's first sign-in. */
  user?: object;
  subject?: string;
  issuer?: string;
  authenticated_after?: number;
}

/** What happened. `subject` is the user's, as in `Identity`; `data` has the rest of the event. */
export interface NotifiedEvent {
  type: string;
  subject: string | null;
  session_id: string | null;
  email: string | null;
  is_private_email: boolean | null;
  occurred_at: number | null;
  reason: string | null;
  data: Record<string, unknown>;
}

/** A verified notification. `provider` and `id` together are the same for repeated deliveries. */
export interface Notification {
  provider: string;
  issuer: string;
  kind: string;
  id: string;
  issued_at: number;
  events: NotifiedEvent[];
}

export type Verdict =
  | { kind: "verified"; identity: Identity }
  /** Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid. */
  | { kind: "refused"; code: string; claim?: string; requestId: string }
  /** Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after this many seconds. */
  | { kind: "unavailable"; retryAfter: number };

/**
 * A problem. Without a response, `status` is 0 and `code` is absent.
 *
 * `spent` is for a finish, a refresh or a revocation. If it is `false`, nothing was used up: at 0 or 503, the request may be
 * sent again, after `retryAfter` seconds if that is there. If it is `true`, the sign-in, code or refresh token is, or may be,
 * used up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `code` is `grant_invalid`;
 * otherwise, try it once more later.
 *
 * `providerError` is the provider's error code. `context` is the begin call's, if the user or the provider
 * ended it (`sign_in_denied`, `provider_refused`): don't log it.
 */
export class AssayError extends Error {
  constructor(
    readonly status: number,
    readonly code?: string,
    readonly requestId?: string,
    readonly spent = false,
    readonly retryAfter?: number,
    readonly providerError?: string,
    readonly context?: string,
  ) {
    super(status ? `Assay answered ${status} ${code}, request ${requestId}` : "Assay did not answer");
    this.name = "AssayError";
  }
}

/** What came back: `members` are none if it is not a JSON object, because then the response is not Assay's. */
interface Answer {
  status: number;
  retryAfter?: number;
  members: any;
}

/** One for the whole program; `fetch` keeps the connections. */
export class Assay {
  readonly #url: string;
  readonly #headers: Record<string, string> = { "Content-Type": "application/json" };
  readonly #timeout: number;
  readonly #finishTimeout: number;

  /** Timeouts, in milliseconds, are a little longer than Assay waits for a provider: see `AssayOptions`. */
  constructor({ url = "http://127.0.0.1:8080", apiKey, timeout = 6000, finishTimeout = 12000 }: AssayOptions = {}) {
    this.#url = url;
    if (apiKey) this.#headers.Authorization = `Bearer ${apiKey}`;
    this.#timeout = timeout;
    this.#finishTimeout = finishTimeout;
  }

  /** Throws `AssayError`. */
  async begin(provider: string, options: BeginOptions = {}): Promise<BegunSignIn> {
    const answer = await this.#ask("/v1/sign-ins", { ...options, provider });
    const { sign_in, nonce, nonce_sha256, expires_at } = answer.members;
    if (answer.status === 201 && sign_in && nonce) return { sign_in, nonce, nonce_sha256, expires_at };
    throw problem(answer);
  }

  /** Throws `AssayError`. `redirect_uri`: one of the client's `redirect_uris` in Assay's settings. */
  async beginInBrowser(
    provider: string,
    redirect_uri: string,
    options: BeginBrowserOptions = {},
  ): Promise<BegunBrowserSignIn> {
    const answer = await this.#ask("/v1/sign-ins", { ...options, provider, redirect_uri });
    const { sign_in, state, authorization_url, expires_at } = answer.members;
    if (answer.status === 201 && sign_in && state && authorization_url)
      return { sign_in, state, authorization_url, expires_at };
    throw problem(answer);
  }

  /** Throws `AssayError`. `id_token` may be `null` if there is a code. The request is sent only once. */
  finish(sign_in: string, id_token: string | null, options: FinishOptions = {}): Promise<FinishedSignIn> {
    return this.#finish({ ...options, sign_in, id_token: id_token ?? undefined });
  }

  /**
   * `response`: all parameters that the redirect URI received; `redirect_uri`: that URI. Throws `AssayError`. The request is
   * sent only once.
   */
  finishInBrowser(sign_in: string, response: Record<string, string>, redirect_uri?: string): Promise<FinishedSignIn> {
    return this.#finish({ sign_in, response, redirect_uri });
  }

  async #finish(request: object): Promise<FinishedSignIn> {
    const answer = await this.#askOnce("/v1/sign-ins/finish", request);
    const { identity, context, grant = null } = answer.members;
    if (answer.status === 200 && isIdentity(identity) && (grant === null || isGrant(grant)))
      return { identity, context, grant };
    throw problem(answer, isSpent(answer));
  }

  /** Throws `AssayError`. The request is sent only once. */
  async refresh(
    provider: string,
    refresh_token: string,
    subject: string,
    options: RefreshOptions = {},
  ): Promise<Refreshed> {
    const answer = await this.#askOnce("/v1/grants/refresh", { ...options, provider, refresh_token, subject });
    const { grant, identity, problem: trouble } = answer.members;
    if (answer.status === 200 && isGrant(grant) && (identity === null || isIdentity(identity)))
      return { grant, identity, problem: trouble?.code ?? null };
    throw problem(answer, isSpent(answer));
  }

  /** Throws `AssayError`, never `spent`: it is safe to revoke a token again. */
  async revoke(provider: string, token: string, options: RevokeOptions = {}): Promise<void> {
    const answer = await this.#askOnce("/v1/grants/revoke", { ...options, provider, token }, false);
    if (answer.status !== 204) throw problem(answer);
  }

  /** Exchanges the code, and revokes the tokens. Throws `AssayError`. The request is sent only once. */
  async revokeByCode(provider: string, code: string, options: RevokeByCodeOptions = {}): Promise<void> {
    const answer = await this.#askOnce("/v1/grants/revoke", { ...options, provider, code });
    if (answer.status !== 204) throw problem(answer, isSpent(answer));
  }

  /** Throws `AssayError`. `singleUse`: the provider has `nonce.single_use`, so the request is sent once. */
  async verify(signIn: SignIn, { singleUse = false } = {}): Promise<Verdict> {
    const request = { ...signIn, nonce: signIn.nonce ?? undefined };
    let answer: Answer;
    try {
      answer = singleUse
        ? await this.#postOnce("/v1/verify", request, this.#timeout)
        : await this.#post("/v1/verify", request);
    } catch {
      return { kind: "unavailable", retryAfter: 1 };
    }
    const { identity, code, claim, request_id } = answer.members;
    switch (answer.status) {
      case 200:
        if (!isIdentity(identity)) break;
        return { kind: "verified", identity };
      case 422:
        if (!code) break;
        return { kind: "refused", code, claim, requestId: request_id };
      case 503:
        return { kind: "unavailable", retryAfter: answer.retryAfter ?? 1 };
    }
    throw problem(answer);
  }

  /** Either `token`, or `payload`, the body that Apple sent. Throws `AssayError`. */
  async notification(sent: { token?: string; payload?: unknown; provider?: string }): Promise<Notification> {
    const answer = await this.#ask("/v1/notifications/verify", sent);
    const { notification, events } = answer.members;
    if (answer.status === 200 && notification?.id && events) return { ...notification, events };
    throw problem(answer);
  }

  async #ask(path: string, request: object): Promise<Answer> {
    try {
      return await this.#post(path, request);
    } catch {
      throw new AssayError(0);
    }
  }

  /** `usesUp`: without a response, something may be used up. */
  async #askOnce(path: string, request: object, usesUp = true): Promise<Answer> {
    try {
      return await this.#postOnce(path, request, this.#finishTimeout);
    } catch (error) {
      throw new AssayError(0, undefined, undefined, usesUp && !wasUnreachable(error));
    }
  }

  /** A request without side effects, which is safe to resend. */
  #post(path: string, request: object): Promise<Answer> {
    return this.#postOnce(path, request, this.#timeout).catch((error) => {
      if (wasClosed(error)) return this.#postOnce(path, request, this.#timeout);
      throw error;
    });
  }

  /** `fetch` uses no connection that it knows to be closed, and never resends by itself. */
  async #postOnce(path: string, request: object, timeout: number): Promise<Answer> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeout);
    try {
      const response = await fetch(this.#url + path, {
        method: "POST",
        headers: this.#headers,
        body: JSON.stringify(request),
        redirect: "manual", // Assay never redirects, and the token must not reach another host.
        signal: abort.signal,
      });
      const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
      return { status: response.status, retryAfter, members: read(await response.text()) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether a reused connection was closed at that moment. */
function wasClosed(error: any): boolean {
  return ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(error?.cause?.code);
}

/** Whether there was no connection at all, so that nothing was sent. */
function wasUnreachable(error: any): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(error?.cause?.code);
}

function problem({ status, retryAfter, members }: Answer, spent = false): AssayError {
  const { code, request_id, provider_error, context } = members;
  return new AssayError(status, code, request_id, spent, retryAfter, provider_error, context);
}

/** A response without `spent` is not Assay's, and the request may have arrived. */
function isSpent({ members }: Answer): boolean {
  return members.spent !== false;
}

export interface AssayOptions {
  url?: string;
  apiKey?: string;
  timeout?: number;
  /** For a finish, a refresh and a revocation. */
  finishTimeout?: number;
}

/** The members of an answer; none if it is not a JSON object, because then the response is not Assay's. */
function read(text: string): any {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function isIdentity(value: any): value is Identity {
  return typeof value?.issuer === "string" && typeof value?.subject === "string";
}

function isGrant(value: any): value is Grant {
  return typeof value?.access_token === "string";
}
