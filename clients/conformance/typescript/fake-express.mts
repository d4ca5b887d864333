// The README's site, with a fake client: prints the status, the place and the cookies of a sign-in's two responses.

import * as http from "node:http";
import { FakeAssay } from "assay-client";
import { site } from "./express.mjs";

declare const process: { exit(code: number): void };

const assay = new FakeAssay();
assay.will("beginInBrowser", { state: "s", authorization_url: "https://appleid.apple.com/auth?response_mode=form_post" });
assay.will("finishInBrowser", { context: "/basket" });
const server = http.createServer(site(assay, (response, identity) => response.cookie("session", identity.subject)));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

function get(path: string, cookie: string): Promise<any> {
  return new Promise((resolve) => {
    const options = { path, host: "127.0.0.1", port: server.address().port, headers: { cookie } };
    const request = http.request(options);
    request.on("response", (response) => resolve({ status: response.statusCode, ...response.headers }));
    request.end("");
  });
}

const begun = await get("/sign-in/apple?return_to=/basket", "");
const finished = await get("/callback/apple?state=s&code=c", begun["set-cookie"][0].split(";")[0]);
console.log(JSON.stringify([begun, finished].map((each) => [each.status, each.location, each["set-cookie"]])));
process.exit(0);
