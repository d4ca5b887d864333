// The parts of Node that the package uses, for machines without `@types/node`.

declare const console: { log(text: string): void; warn(text: string): void };
declare const process: { hrtime: { bigint(): bigint } };
declare function setTimeout(run: (value: void) => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

interface Buffer extends Uint8Array {
  toString(encoding?: string): string;
}
declare const Buffer: { concat(parts: Uint8Array[]): Buffer; byteLength(text: string): number };

declare class URLSearchParams {
  constructor(text: string);
  [Symbol.iterator](): Iterator<[string, string]>;
}

declare class URL {
  constructor(text: string);
  readonly hostname: string;
  readonly port: string;
  readonly origin: string;
  readonly pathname: string;
}

declare module "node:fs/promises" {
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
}

declare module "node:fs" {
  export function readFileSync(path: string): Buffer;
}

declare module "node:http" {
  export interface Socket {
    connecting: boolean;
    on(event: string, run: (error: Error) => void): void;
    once(event: string, run: () => void): void;
  }
  export interface IncomingMessage {
    method?: string;
    url?: string;
    statusCode?: number;
    headers: Record<string, string | string[] | undefined>;
    rawHeaders: string[];
    complete: boolean;
    readableEnded: boolean;
    on(event: "data", run: (part: Buffer) => void): void;
    on(event: "end" | "aborted" | "close", run: () => void): void;
    on(event: "error", run: (error: Error) => void): void;
  }
  export interface ServerResponse {
    writeHead(status: number, headers: Record<string, string>): this;
    statusCode: number;
    headersSent: boolean;
    setHeader(name: string, value: string | string[]): void;
    end(text?: string): void;
  }
  export interface ClientRequest {
    on(event: "response", run: (response: IncomingMessage) => void): void;
    on(event: "socket", run: (socket: Socket) => void): void;
    on(event: "error", run: (error: Error) => void): void;
    end(body: string): void;
    destroy(): void;
  }
  export interface RequestOptions {
    method?: string;
    host?: string;
    port?: number | string;
    path?: string;
    socketPath?: string;
    headers?: Record<string, string | number>;
    agent?: Agent | false;
    ca?: Buffer;
  }
  export class Agent {
    constructor(options: { keepAlive: boolean; ca?: Buffer });
    destroy(): void;
  }
  export function request(options: RequestOptions): ClientRequest;
  export function createServer(run: (request: IncomingMessage, response: ServerResponse) => void): {
    listen(port: number, host: string, run?: () => void): void;
    address(): { port: number };
    close(): void;
  };
}

declare module "node:https" {
  import type { ClientRequest, RequestOptions } from "node:http";
  export class Agent {
    constructor(options: { keepAlive: boolean; ca?: Buffer });
    destroy(): void;
  }
  export function request(options: RequestOptions): ClientRequest;
}

declare module "node:readline" {
  export function createInterface(options: { input: unknown }): AsyncIterable<string>;
}
