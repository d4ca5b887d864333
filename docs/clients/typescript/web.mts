// A web backend whose users sign in through the browser. Node 18 or later, no packages; run it behind TLS.
//
//   GET  /sign-in?provider=google&return_to=/basket   begins, and redirects to the provider
//   GET  /callback/google, or POST                    the redirect URI: finishes
//   GET  /                                            says who is signed in
//   POST /sign-out
//   POST /delete-account                              revokes the grants, and deletes the account
//
// The redirect URI of each provider's client, in Assay's settings and at the provider, is ORIGIN/callback/PROVIDER. The
// environment has ORIGIN, AUDIENCES, ASSAY_URL, ASSAY_API_KEY and PORT.

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Assay, AssayError, type FinishedSignIn } from "./assay.mjs";

const origin = process.env.ORIGIN ?? ""; // https://example.com
if (!origin) throw new Error("ORIGIN is missing or empty; set it to the URL of this site, such as https://example.com");
// The client of each provider: {"google": "123.apps.googleusercontent.com"}
const audiences = new Map<string, string>(Object.entries(JSON.parse(process.env.AUDIENCES ?? "{}")));
const assay = new Assay({ url: process.env.ASSAY_URL, apiKey: process.env.ASSAY_API_KEY });

/** A refresh token is valid only with the other members, none of which may come from the browser. */
interface StoredGrant {
  provider: string;
  audience: string;
  issuer: string;
  subject: string;
  refreshToken: string;
}

/** In memory; replace it with your tables. */
class Database {
  readonly #accounts = new Map<string, string>();
  readonly #grants = new Map<string, Map<string, StoredGrant>>();
  readonly #sessions = new Map<string, string>();
  readonly toRevoke: StoredGrant[] = [];

  /**
   * Finds or creates the account, stores the grant, and returns the ID of a new session. The old session ends, so that nobody
   * who knows its ID is then signed in (session fixation).
   */
  signIn(provider: string, audience: string, { identity, grant }: FinishedSignIn, oldSession: string): string {
    const { issuer, subject } = identity;
    const who = JSON.stringify([issuer, subject]);
    const account = this.#accounts.get(who) ?? randomId();
    this.#accounts.set(who, account);
    if (grant?.refresh_token) {
      const grants = this.#grants.get(account) ?? new Map<string, StoredGrant>();
      const key = JSON.stringify([provider, audience]);
      this.#grants.set(account, grants.set(key, { provider, audience, issuer, subject, refreshToken: grant.refresh_token }));
    }
    this.#sessions.delete(oldSession);
    const session = randomId();
    this.#sessions.set(session, account);
    return session;
  }

  account(session: string): string | undefined {
    return this.#sessions.get(session);
  }

  signOut(session: string): void {
    this.#sessions.delete(session);
  }

  /** Deletes all data of an account. Returns the grants to revoke. */
  delete(account: string): StoredGrant[] {
    for (const table of [this.#accounts, this.#sessions])
      for (const [key, each] of table) if (each === account) table.delete(key);
    const grants = [...(this.#grants.get(account)?.values() ?? [])];
    this.#grants.delete(account);
    return grants;
  }
}

const database = new Database();

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const session = cookieValue(request.headers.cookie, "__Host-session") ?? "";
  const account = database.account(session);
  const provider = pathname.startsWith("/callback/") ? pathname.slice("/callback/".length) : undefined;
  if (request.method === "GET") {
    if (pathname === "/sign-in") return begin(response, searchParams);
    if (provider) return finish(request, response, provider, searchParams);
    if (pathname === "/") return page(response, 200, account ? `Signed in as ${account}.` : "Signed out.");
  } else if (request.method === "POST") {
    // The provider's page posts this form (`response_mode=form_post`).
    if (provider) return finish(request, response, provider, new URLSearchParams(await body(request)));
    if (request.headers.origin !== origin) return page(response, 403, "This form came from another site.");
    if (pathname === "/sign-out") database.signOut(session);
    else if (pathname === "/delete-account" && account) await revoke(database.delete(account));
    else return page(response, 404, "Not found.");
    return redirect(response, origin, cookie("__Host-session", "", 0));
  }
  page(response, 404, "Not found.");
}

async function begin(response: ServerResponse, parameters: URLSearchParams): Promise<void> {
  const provider = parameters.get("provider") ?? "";
  const returnTo = parameters.get("return_to") ?? "";
  const audience = audiences.get(provider);
  if (!audience) return page(response, 404, "Not found.");
  // Assay does not validate the context, so accept only a path of this site.
  const context = /^\/[\x21-\x7e]{0,500}$/.test(returnTo) ? returnTo : "/";
  try {
    const begun = await assay.beginInBrowser(provider, `${origin}/callback/${provider}`, { audience, context });
    // The provider's page posts a form from another site, and browsers send no Lax cookie with it.
    // A request that was pushed or signed does not show how it is answered.
    const sameSite = /response_mode=form_post|request=|request_uri=/.test(begun.authorization_url) ? "None" : "Lax";
    const kept = cookie(`__Host-sign-in-${begun.state}`, begun.sign_in, 600, sameSite);
    redirect(response, begun.authorization_url, kept);
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    console.warn("begin:", error.message);
    page(response, 503, "Signing in is not possible right now. Please try again later.");
  }
}

async function finish(
  request: IncomingMessage,
  response: ServerResponse,
  provider: string,
  parameters: URLSearchParams,
): Promise<void> {
  const members = Object.fromEntries(parameters);
  const name = `__Host-sign-in-${members.state}`;
  // The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
  const signIn = cookieValue(request.headers.cookie, name);
  const audience = audiences.get(provider);
  if (!audience || !signIn || Object.keys(members).length !== [...parameters].length)
    return page(response, 400, "This sign-in was begun in another browser, or too long ago. Please sign in again.");
  const done = cookie(name, "", 0);
  let finished: FinishedSignIn;
  try {
    finished = await assay.finishInBrowser(signIn, members, `${origin}/callback/${provider}`);
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    if (error.code === "sign_in_denied")
      return page(response, 200, "You did not sign in, and nothing has changed.", [done], error.context ?? "/");
    console.warn("finish:", error.message);
    // The cookie stays, so that reloading the page repeats the finish.
    if ([0, 503].includes(error.status) && !error.spent)
      return page(response, 503, "Signing in takes longer than usual. Please reload this page in a moment.");
    return page(response, error.status === 422 ? 400 : 500, "That did not work. Please sign in again.", [done]);
  }
  const session = database.signIn(provider, audience, finished, cookieValue(request.headers.cookie, "__Host-session") ?? "");
  redirect(response, origin + (finished.context ?? "/"), done, cookie("__Host-session", session, 30 * 86_400));
}

/** The account is deleted even if a provider does not answer. Your own job has to retry `toRevoke`. */
async function revoke(grants: StoredGrant[]): Promise<void> {
  for (const grant of grants) {
    const { provider, audience, refreshToken } = grant;
    try {
      await assay.revoke(provider, refreshToken, { token_type_hint: "refresh_token", audience });
    } catch (error) {
      if (!(error instanceof AssayError)) throw error;
      console.warn("revoke:", error.message);
      if (error.code !== "revocation_not_supported") database.toRevoke.push(grant);
    }
  }
}

function randomId(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a
 * `__Host-` cookie. Two cookies of one name count as none, because one of them may be an attacker's.
 */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const values: string[] = [];
  for (const pair of (header ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals >= 0 && pair.slice(0, equals).replace(/^[ \t]+/, "") === name) values.push(pair.slice(equals + 1));
  }
  return values.length === 1 ? values[0]?.replace(/[ \t]+$/, "") : undefined;
}

/** Sent only to this host over HTTPS, and hidden from scripts. */
function cookie(name: string, value: string, seconds: number, sameSite = "Lax"): string {
  return `${name}=${value}; Max-Age=${seconds}; Path=/; Secure; HttpOnly; SameSite=${sameSite}`;
}

/** At most 64 KiB. */
async function body(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("latin1")) if (text.length < 65_536) text += chunk;
  return text;
}

// The URL of a callback contains a code, which no other site may see.
const common = { "Cache-Control": "no-store", "Referrer-Policy": "same-origin" };

function redirect(response: ServerResponse, url: string, ...kept: string[]): void {
  response.writeHead(303, { ...common, Location: url, "Set-Cookie": kept }).end();
}

function page(response: ServerResponse, status: number, text: string, kept: string[] = [], back = "/"): void {
  const headers = { ...common, "Content-Type": "text/html; charset=utf-8", "Set-Cookie": kept };
  const link = (origin + back).replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  response.writeHead(status, headers).end(`<!doctype html><title>Example</title><p>${text}</p><a href="${link}">Back</a>`);
}

createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    page(response, 500, "Something went wrong.");
  });
}).listen(Number(process.env.PORT ?? 8000), "127.0.0.1");
