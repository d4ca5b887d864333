import express from "express";
import { Assay, signIns, type Identity } from "assay-client";

/** A site with sign-ins with Apple. The user begins at `/sign-in/apple`. */
export function site(assay: Assay, start: (response: any, identity: Identity) => void) {
  const app = express();
  app.use(
    signIns(assay, {
      origin: "https://example.com",
      providers: { apple: "com.example.web" },
      options: { scopes: ["name", "email"] },
      signedIn(_, response, { identity, context }) {
        // A new session, so that nobody who knows the old one is signed in.
        start(response, identity);
        response.redirect(303, context ?? "/");
      },
    }),
  );
  return app;
}
