import { Assay, AssayError, Refused } from "assay-client";

/** Finishes an app's sign-in: the status and the body of the response. */
export async function finish(assay: Assay, signIn: string, idToken: string): Promise<[number, object]> {
  try {
    const { identity } = await assay.finish(signIn, idToken);
    // Find or create the user with these two, and start a session.
    return [200, { issuer: identity.issuer, subject: identity.subject }];
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    console.warn(`sign-in: ${error.message}`);
    if (error.mayRetry) return [503, { error: "try again later" }];
    if (error.spent || error instanceof Refused) return [401, { error: "start a new sign-in" }];
    return [500, { error: "internal error" }];
  }
}
