import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";

/** The connection failed. `sent`: Assay may have got the request anyway. */
export class NoAnswer extends Error {
  constructor(readonly sent: boolean) {
    super("no answer");
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
  readonly #module: typeof http | typeof https;
  readonly #kept: http.Agent | https.Agent;

  constructor(url: string, caFile?: string) {
    const ca = caFile === undefined ? undefined : readFileSync(caFile);
    if (url.startsWith("unix:")) {
      this.#options = { socketPath: url.slice("unix:".length), host: "localhost" };
      this.#prefix = "";
    } else {
      const { protocol, hostname, port, pathname } = new URL(url);
      if (protocol !== "http:" && protocol !== "https:")
        throw new TypeError("the URL must begin with http://, https:// or unix:");
      this.#options = { host: hostname.replace(/^\[|\]$/g, ""), port, ca };
      this.#prefix = pathname.replace(/\/+$/, "");
    }
    this.#module = url.startsWith("https:") ? https : http;
    this.#kept = new this.#module.Agent({ keepAlive: true, ca });
  }

  send(path: string, body: string, headers: Record<string, string>, timeout: number, once: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let connected = false;
      const request = this.#module.request({
        ...this.#options,
        method: body ? "POST" : "GET",
        path: this.#prefix + path,
        headers: body ? { ...headers, "Content-Length": Buffer.byteLength(body) } : headers,
        agent: once ? false : (this.#kept as http.Agent),
      });
      const timer = setTimeout(() => {
        request.destroy();
        reject(new NoAnswer(connected));
      }, timeout);
      const fail = () => {
        clearTimeout(timer);
        reject(new NoAnswer(connected));
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
        response.on("aborted", fail);
        response.on("end", () => {
          clearTimeout(timer);
          if (!response.complete) return reject(new NoAnswer(true));
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
