import type { Challenge, ProblemCode } from "./models.js";

/** The members of an `AssayError`. */
export interface ErrorMembers {
  code?: ProblemCode;
  detail?: string;
  requestId?: string;
  spent?: boolean;
  retryAfter?: number;
  claim?: string;
  providerError?: string;
  context?: string;
  challenge?: Challenge;
  dpopNonce?: string;
  /** The whole problem, for members that this version does not know. */
  members?: Record<string, unknown>;
}

/**
 * A call that failed. Its text is for the log: it has no token, no handle and no nonce.
 *
 * If it is neither `Refused` nor `Unavailable`, the caller, the settings or the provider is at fault: raise an alert.
 */
export class AssayError extends Error {
  /** Absent if there was no answer, or if it was not Assay's. */
  readonly code?: ProblemCode;
  /** For people; it may change. */
  readonly detail?: string;
  readonly requestId?: string;
  /** Whether the sign-in, code, token, nonce or proof is, or may be, used up. Never send it again. */
  readonly spent: boolean;
  /** Seconds to wait before the same request may succeed. */
  readonly retryAfter?: number;
  /** The claim that is missing or invalid. */
  readonly claim?: string;
  /** The provider's error code. */
  readonly providerError?: string;
  /** How to answer the client that sent an access token; only for a call with `resource`. */
  readonly challenge?: Challenge;
  /** What the next proof of this client must have, as `DPoP-Nonce` of your response. */
  readonly dpopNonce?: string;

  /** The begin call's, if the user or the provider ended the sign-in. Don't log it. */
  get context(): string | undefined {
    return this.#context;
  }

  /** The whole problem, for members that this version does not know. */
  get members(): Record<string, unknown> {
    return this.#members;
  }

  readonly #context?: string;
  readonly #members: Record<string, unknown>;

  /** `status`: the HTTP status; 0 if there was no answer. */
  constructor(
    readonly status: number,
    members: ErrorMembers = {},
  ) {
    super(text(status, members));
    this.name = new.target.name;
    this.code = members.code;
    this.detail = members.detail;
    this.requestId = members.requestId;
    this.spent = members.spent ?? false;
    this.retryAfter = members.retryAfter;
    this.claim = members.claim;
    this.providerError = members.providerError;
    this.challenge = members.challenge;
    this.dpopNonce = members.dpopNonce;
    this.#context = members.context;
    this.#members = members.members ?? {};
  }

  /** Whether the same request may be sent again, after `retryAfter` seconds. The client did so, for as long as it may. */
  get mayRetry(): boolean {
    return !this.spent && (this.status === 0 || this.status === 503);
  }
}

/** Sign nobody in (`status` 422): the same request will be refused again. Show users one message for all codes. */
export class Refused extends AssayError {}

/** Nobody can decide now (`status` 503, or 0 without an answer). Unless `spent`, the same request may succeed later. */
export class Unavailable extends AssayError {}

function text(status: number, { code, detail, requestId, spent }: ErrorMembers): string {
  if (!status) return `Assay did not answer${spent ? ", but may have got the request" : ""}${detail ? `: ${detail}` : ""}`;
  if (!code) return `The answer with status ${status} is not one of Assay's`;
  return `Assay answered ${status} ${code}: ${detail} (request ${requestId})`;
}

/** @internal */
export function failure(status: number, members: ErrorMembers): AssayError {
  if (status === 0 || status === 503) return new Unavailable(status, members);
  // A refusal without a code is not Assay's.
  return status === 422 && members.code ? new Refused(status, members) : new AssayError(status, members);
}
