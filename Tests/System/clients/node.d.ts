// What the examples use of Node. Debian has no @types/node.

declare const process: { env: Record<string, string | undefined>; stdin: object };

declare module "node:readline" {
  export function createInterface(options: { input: object }): AsyncIterable<string>;
}

declare module "node:crypto" {
  export function randomBytes(size: number): { toString(encoding: "base64url"): string };
}

declare module "node:http" {
  export interface IncomingMessage extends AsyncIterable<string> {
    method?: string;
    url?: string;
    headers: { cookie?: string; origin?: string };
    setEncoding(encoding: "latin1"): this;
  }
  export interface ServerResponse {
    writeHead(status: number, headers: Record<string, string | string[]>): this;
    end(body?: string): this;
  }
  export function createServer(handler: (request: IncomingMessage, response: ServerResponse) => void): {
    listen(port: number, host: string): void;
  };
}
