// Reads sign-ins as JSON, one a line, and says of each what Assay said.

import { createInterface } from "node:readline";
import { Assay, AssayError } from "./assay.mjs";

const assay = new Assay({ url: process.env.ASSAY_URL, apiKey: process.env.ASSAY_API_KEY });

async function said(line: string): Promise<object> {
  try {
    const verdict = await assay.verify(JSON.parse(line));
    switch (verdict.kind) {
      case "verified":
        return { verified: verdict.identity };
      case "refused":
        return { refused: verdict.code };
      case "unavailable":
        return { unavailable: verdict.retryAfter };
    }
  } catch (error) {
    if (error instanceof AssayError) return { error: error.status, code: error.code };
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await said(line)));
}
