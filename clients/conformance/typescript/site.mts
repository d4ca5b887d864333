// A site with the package's handler: reads requests as JSON, one per line, and writes responses.
//
//     node site.mjs node|express|parsed ASSAY KEY
//
// With `parsed`, Express reads forms before the handler does.

import * as http from "node:http";
import { createInterface } from "node:readline";
import express from "express";
import { Assay, signIns } from "assay-client";

declare const process: { argv: string[]; stdin: unknown; exit(code: number): void };

const assay = new Assay({ url: process.argv[3], apiKey: process.argv[4], retryFor: 0 });
const handler = signIns(assay, {
  origin: "https://example.com",
  providers: { oidc: "client", down: "client" },
  log: () => {},
  signedIn(_, response, { identity, context }) {
    response.end(JSON.stringify({ subject: identity.subject, context }));
  },
});
const app = express();
app.use(express.json());
if (process.argv[2] === "parsed") app.use(express.urlencoded({ extended: true }));
app.use(handler);
const server = http.createServer(async (request, response) => {
  if (process.argv[2] !== "node") return app(request, response);
  if (await handler(request, response)) return;
  response.statusCode = 404;
  response.end();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

function ask({ method, path, cookie, body }: any): Promise<object> {
  return new Promise((resolve, reject) => {
    const options = { method, path, host: "127.0.0.1", port: server.address().port, headers: { cookie, "content-type": "application/x-www-form-urlencoded" } };
    const request = http.request(options);
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.on("data", (part) => (text += part.toString("utf8")));
      response.on("end", () => {
        const { location = null, "set-cookie": cookies = [] } = response.headers;
        resolve({ status: response.statusCode, location, cookies, body: text });
      });
    });
    request.end(body);
  });
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await ask(JSON.parse(line))));
process.exit(0);
