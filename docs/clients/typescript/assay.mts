// Asks Assay whose ID Token it is. Node 18 or later, nothing beside it.

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

export interface SignIn {
  provider: string;
  id_token: string;
  /** The one that this backend made for this sign-in; `null`, which is left out, only where the provider knows none. */
  nonce: string | null;
  audience?: string;
  max_age?: number;
  access_token?: string;
  code?: string;
  /** What Apple gave the app beside the token, at a person's first sign-in. */
  user?: object;
}

export type Verdict =
  | { kind: "verified"; identity: Identity }
  /** Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid. */
  | { kind: "refused"; code: string; claim?: string; requestId: string }
  /** Nobody can say just now; the same request may succeed after so many seconds. */
  | { kind: "unavailable"; retryAfter: number };

/** A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500). */
export class AssayError extends Error {
  constructor(readonly status: number, readonly code?: string, readonly requestId?: string) {
    super(`Assay answered ${status} ${code}, request ${requestId}`);
    this.name = "AssayError";
  }
}

/** One for the whole program; `fetch` keeps the connections. */
export class Assay {
  readonly #url: string;
  readonly #headers: Record<string, string> = { "Content-Type": "application/json" };
  readonly #timeout: number;

  /** `timeout`, in milliseconds, is a little longer than Assay waits for a provider's keys. */
  constructor({ url = "http://127.0.0.1:8080", apiKey, timeout = 6000 }: AssayOptions = {}) {
    this.#url = `${url}/v1/verify`;
    if (apiKey) this.#headers.Authorization = `Bearer ${apiKey}`;
    this.#timeout = timeout;
  }

  /** Throws `AssayError`. */
  async verify(signIn: SignIn): Promise<Verdict> {
    const body = JSON.stringify({ ...signIn, nonce: signIn.nonce ?? undefined });
    let response: Response;
    let text: string;
    try {
      [response, text] = await this.#post(body).catch((error) => {
        if (wasClosed(error)) return this.#post(body);
        throw error;
      });
    } catch {
      return { kind: "unavailable", retryAfter: 1 };
    }
    const answer = read(text);
    switch (response.status) {
      case 200:
        if (!isIdentity(answer.identity)) break;
        return { kind: "verified", identity: answer.identity };
      case 422:
        if (!answer.code) break;
        return { kind: "refused", code: answer.code, claim: answer.claim, requestId: answer.request_id };
      case 503:
        return { kind: "unavailable", retryAfter: Number(response.headers.get("Retry-After")) || 1 };
    }
    throw new AssayError(response.status, answer.code, answer.request_id);
  }

  async #post(body: string): Promise<[Response, string]> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.#timeout);
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: this.#headers,
        body,
        redirect: "manual", // Assay sends nobody elsewhere, and the token is for it alone.
        signal: abort.signal,
      });
      return [response, await response.text()];
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether a kept connection was closed just then: the request may be sent again, on another. */
function wasClosed(error: any): boolean {
  return ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(error?.cause?.code);
}

export interface AssayOptions {
  url?: string;
  apiKey?: string;
  timeout?: number;
}

/** The members of an answer; none if it is no JSON object, since then it was not Assay that answered. */
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
