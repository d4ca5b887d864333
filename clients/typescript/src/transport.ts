import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";

/** The connection failed. `sent`: Assay may have got the request anyway. `detail`: where; unless `sent`, also why. */
export class NoAnswer extends Error {
  constructor(
    readonly sent: boolean,
    readonly detail?: string,
  ) {
    super(detail ?? "no answer");
  }
}

export interface Reply {
  status: number;
  body: string;
  /** Seconds. */
  retryAfter?: number;
}

/** How a client reaches Assay; a test may have its own. */
export interface Transport {
  /** Throws `NoAnswer`. Without a body, it is a GET. `once`: over a new connection, which nobody has closed as idle. */
  send(path: string, body: string, headers: Record<string, string>, timeout: number, once: boolean): Promise<Reply>;
  /** Milliseconds. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** HTTP over TCP, TLS or a Unix domain socket. Follows no redirect and uses no proxy: only Assay may see a token. */
export class HTTPTransport implements Transport {
  readonly #options: http.RequestOptions;
  readonly #prefix: string;
  /** For errors: without what a URL may have before its host, or after. */
  readonly #place: string;
  readonly #module: typeof http | typeof https;
  readonly #kept: http.Agent | https.Agent;

  constructor(url: string, caFile?: string) {
    const ca = caFile === undefined ? undefined : readFileSync(caFile);
    if (url.startsWith("unix:")) {
      this.#options = { socketPath: url.slice("unix:".length), host: "localhost" };
      this.#prefix = "";
      this.#place = url;
    } else {
      if (!/^https?:\/\//i.test(url))
        throw new TypeError(`the URL must begin with http://, https:// or unix:; found ${JSON.stringify(url)}`);
      const { origin, hostname, port, pathname } = new URL(url);
      this.#place = origin;
      this.#options = { host: hostname.replace(/^\[|\]$/g, ""), port, ca };
      this.#prefix = pathname.replace(/\/+$/, "");
    }
    this.#module = url.startsWith("https:") ? https : http;
    this.#kept = new this.#module.Agent({ keepAlive: true, ca });
  }

  send(path: string, body: string, headers: Record<string, string>, timeout: number, once: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let connected = false;
      // Once the request was sent, the failure's text may have something of it.
      const lost = (why: string) =>
        new NoAnswer(connected, connected ? `no whole answer came from ${this.#place}` : `can't connect to ${this.#place}: ${why}`);
      const request = this.#module.request({
        ...this.#options,
        method: body ? "POST" : "GET",
        path: this.#prefix + path,
        headers: body ? { ...headers, "Content-Length": Buffer.byteLength(body) } : headers,
        agent: once ? false : (this.#kept as http.Agent),
      });
      const timer = setTimeout(() => {
        request.destroy();
        reject(lost("timed out"));
      }, timeout);
      const fail = (error?: Error) => {
        clearTimeout(timer);
        reject(lost(error?.message.trim() ?? "closed"));
      };
      request.on("socket", (socket) => {
        // With TLS, nothing is sent before the handshake has ended.
        if (socket.connecting) socket.once(this.#module === https ? "secureConnect" : "connect", () => (connected = true));
        else connected = true;
      });
      request.on("error", fail);
      request.on("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", fail);
        response.on("aborted", () => fail());
        response.on("end", () => {
          clearTimeout(timer);
          if (!response.complete) return reject(lost("closed"));
          const after = response.headers["retry-after"];
          const retryAfter = typeof after === "string" && /^[0-9]{1,9}$/.test(after) ? Number(after) : undefined;
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString(), retryAfter });
        });
      });
      request.end(body);
    });
  }

  now(): number {
    return Number(process.hrtime.bigint() / 1_000_000n);
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, milliseconds));
  }

  close(): void {
    this.#kept.destroy();
  }
}
