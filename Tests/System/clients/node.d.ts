// What the examples use of Node. Debian has no @types/node.

declare const process: { env: Record<string, string | undefined>; stdin: object };

declare module "node:readline" {
  export function createInterface(options: { input: object }): AsyncIterable<string>;
}
