import { Assay, AssayError, type Notification } from "./assay.mjs";

/** Receives notifications from providers: Apple's, logout tokens and security events, all at one URL. */
export class Receiver {
  /**
   * `once` acts on a notification's events unless it has done so before. In one transaction: insert `provider` and `id` into
   * `notifications`; if they were there already, do nothing; otherwise act on each event.
   */
  constructor(
    readonly assay: Assay,
    readonly once: (notification: Notification) => Promise<void>,
  ) {}

  /** Returns the status for the response to the sender. Assay's log has the reason for a refusal. */
  async receive(contentType: string, body: string): Promise<number> {
    const sent = message(contentType, body);
    if (!sent) return 400;
    let notification: Notification;
    try {
      notification = await this.assay.notification(sent);
    } catch (error) {
      if (!(error instanceof AssayError)) throw error;
      // 503: the sender tries again later. 400: that would not help, because it would be refused again.
      if ([0, 503].includes(error.status)) return 503;
      return [400, 404, 422].includes(error.status) ? 400 : 500;
    }
    // If it throws, answer with 500: the sender tries again, and nothing is marked as processed.
    await this.once(notification);
    return 200;
  }
}

/** The request for Assay. */
function message(contentType: string, body: string): { token?: string; payload?: unknown } | undefined {
  switch (contentType.split(";")[0].trim().toLowerCase()) {
    case "application/x-www-form-urlencoded":
      const token = new URLSearchParams(body).get("logout_token");
      return token === null ? undefined : { token };
    case "application/secevent+jwt":
      return { token: body.trim() };
  }
  try {
    return { payload: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
