// Verifies ID Tokens and finishes sign-ins with Assay.

export { Assay, type AssayOptions } from "./client.js";
export { AssayError, Refused, Unavailable, type ErrorMembers } from "./errors.js";
export { FakeAssay, type CallName, type Changes } from "./fake.js";
export * from "./models.js";
export { signIns, type SignInsOptions } from "./web.js";
export { NoAnswer, type Reply, type Transport } from "./transport.js";
