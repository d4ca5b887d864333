import { createServer } from "node:http";
import { Assay, signIns, type Identity } from "assay-client";

/** A site with sign-ins with Apple. The user begins at `/sign-in/apple`. */
export function backend(assay: Assay, start: (response: any, identity: Identity) => void) {
  const handle = signIns(assay, {
    origin: "https://example.com",
    providers: { apple: "com.example.web" },
    options: { scopes: ["name", "email"] },
    signedIn(_, response, { identity, context }) {
      // A new session, so that nobody who knows the old one is signed in.
      start(response, identity);
      response.writeHead(303, { Location: context ?? "/" }).end();
    },
  });
  return createServer(async (request, response) => {
    if (!(await handle(request, response))) response.end("Welcome!");
  });
}
