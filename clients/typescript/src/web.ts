import type { IncomingMessage, ServerResponse } from "node:http";
import type { Assay } from "./client.js";
import { AssayError } from "./errors.js";
import type { BeginBrowserOptions, FinishedSignIn } from "./models.js";

export interface SignInsOptions {
  /** The site's, such as `https://example.com`. */
  origin: string;
  /** The client of each provider: `{ apple: "com.example.web" }`. */
  providers: Record<string, string>;
  /** Starts a session, with a new ID, and responds. Redirect to `finished.context`, which is a path of this site. */
  signedIn(request: any, response: any, finished: FinishedSignIn): void | Promise<void>;
  /** More options of `beginInBrowser`, such as `scopes`. */
  options?: BeginBrowserOptions;
  /** Errors, without secrets; `console.warn` by default. */
  log?(text: string): void;
}

const largestForm = 65_536;
/** A path that begins with two slashes would be another site's. */
const ownPath = /^\/(?![/\\])[\x21-\x7e]{0,500}$/;

/** A handler of `node:http`, and a middleware of Express. */
export interface SignInsHandler {
  (request: any, response: any): Promise<boolean>;
  (request: any, response: any, next: (error?: any) => void): Promise<void>;
}

/**
 * A handler of `node:http` for sign-ins in the browser: `/sign-in/{provider}?return_to=/path` redirects to the provider, and
 * `/callback/{provider}` is the redirect URI. It resolves to `false`, without a response, if the path is another one. The site
 * needs HTTPS, or the host `localhost`.
 *
 * In Express, it is a middleware: `app.use(signIns(assay, site))`.
 */
export function signIns(assay: Assay, site: SignInsOptions): SignInsHandler {
  const origin = site.origin.replace(/\/+$/, "");
  const redirectUri = (provider: string) => `${origin}/callback/${provider}`;
  const log = site.log ?? ((text: string) => console.warn(text));

  async function begin(response: ServerResponse, provider: string, parameters: [string, string][]): Promise<void> {
    if (!Object.hasOwn(site.providers, provider)) return answer(response, 404, "Not found.");
    const path = parameters.find(([name]) => name === "return_to")?.[1] ?? "/";
    const context = ownPath.test(path) ? path : "/";
    try {
      const options = { ...site.options, audience: site.providers[provider], context };
      const begun = await assay.beginInBrowser(provider, redirectUri(provider), options);
      // The provider's page posts a form from another site, and browsers send no Lax cookie with it.
      // A request that was pushed or signed does not show how it is answered.
      const sameSite = /response_mode=form_post|request=|request_uri=/.test(begun.authorization_url) ? "None" : "Lax";
      response.setHeader("Set-Cookie", cookie(`__Host-sign-in-${begun.state}`, begun.sign_in, 600, sameSite));
      redirect(response, begun.authorization_url);
    } catch (error) {
      log(`begin: ${error instanceof Error ? error.message : error}`);
      const isTemporary = error instanceof AssayError && error.mayRetry;
      answer(response, isTemporary ? 503 : 500, "Signing in is not possible right now. Please try again later.");
    }
  }

  async function finish(
    request: IncomingMessage,
    response: ServerResponse,
    provider: string,
    parameters: [string, string][],
  ): Promise<void> {
    const members = Object.fromEntries(parameters);
    const name = `__Host-sign-in-${members.state ?? ""}`;
    // The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
    const signIn = cookieValue(String(request.headers.cookie ?? ""), name);
    const isOnce = Object.keys(members).length === parameters.length;
    if (!Object.hasOwn(site.providers, provider) || signIn === undefined || !isOnce)
      return answer(response, 400, "This sign-in was begun in another browser, or too long ago. Please sign in again.");
    let finished: FinishedSignIn;
    try {
      finished = await assay.finishInBrowser(signIn, members, redirectUri(provider));
    } catch (error) {
      const problem = error instanceof AssayError ? error : undefined;
      // The cookie stays, so that reloading the page repeats the finish.
      if (problem?.mayRetry)
        return answer(response, 503, "Signing in takes longer than usual. Please reload this page in a moment.");
      response.setHeader("Set-Cookie", cookie(name, "", 0, "Lax"));
      if (problem?.code === "sign_in_denied") return redirect(response, ownPath.test(problem.context ?? "") ? problem.context! : "/");
      log(`finish: ${error instanceof Error ? error.message : error}`);
      const status = problem !== undefined && [0, 422, 503].includes(problem.status) ? 400 : 500;
      return answer(response, status, "That did not work. Please sign in again.");
    }
    response.setHeader("Set-Cookie", cookie(name, "", 0, "Lax"));
    await site.signedIn(request, response, finished);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const [path, query = ""] = (request.url ?? "").split("?", 2);
    const [, kind, provider] = /^\/(sign-in|callback)\/([^/]+)$/.exec(path) ?? [];
    const isPost = kind === "callback" && request.method === "POST";
    if (provider === undefined || (!isPost && request.method !== "GET")) return false;
    response.setHeader("Cache-Control", "no-store");
    // The URL of a callback contains a code, which no other site may see.
    response.setHeader("Referrer-Policy", "same-origin");
    const parameters = isPost ? await form(request) : [...new URLSearchParams(query)];
    if (parameters === undefined) answer(response, 413, "That did not work.");
    else if (kind === "sign-in") await begin(response, provider, parameters);
    else await finish(request, response, provider, parameters);
    return true;
  }

  return (async (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => {
    if (next === undefined) return handle(request, response);
    try {
      if (!(await handle(request, response))) next();
    } catch (error) {
      next(error);
    }
  }) as SignInsHandler;
}

async function form(request: IncomingMessage & { body?: object }): Promise<[string, string][] | undefined> {
  if (request.readableEnded) {
    // A parser of Express has read it. Of a parameter that came twice, it makes a list.
    const members: [string, unknown][] = Object.entries(request.body ?? {});
    return members.flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, String(each)]));
  }
  const text = await read(request);
  return text === undefined ? undefined : [...new URLSearchParams(text)];
}

function read(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let text: string | undefined = "";
    request.on("data", (part) => {
      if (text !== undefined) text += part.toString("latin1");
      if (text !== undefined && text.length > largestForm) text = undefined;
    });
    request.on("end", () => resolve(text));
    request.on("error", reject);
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end(text);
}

function redirect(response: ServerResponse, url: string): void {
  response.statusCode = 303;
  response.setHeader("Location", url);
  response.end();
}

/** Sent only to this host over HTTPS, and hidden from scripts. */
function cookie(name: string, value: string, seconds: number, sameSite: string): string {
  return `${name}=${value}; Max-Age=${seconds}; Path=/; Secure; HttpOnly; SameSite=${sameSite}`;
}

/**
 * A cookie's value, byte for byte as the browser sent it (RFC 6265bis).
 *
 * More lenient parsers let other sites plant a `__Host-` cookie. Two cookies of one name count as none, because one of them may be an
 * attacker's.
 */
function cookieValue(header: string, name: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ""));
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}
