// Calls the service with the client that openapi-generator's typescript-fetch generates, and prints what it got.
// The argument is JSON: the addresses of both listeners, and the requests.

import {
  AccessTokenRequestFromJSON, AuthorizationApi, BatchRequestFromJSON, BeginRequestFromJSON, Configuration,
  NotificationRequestFromJSON, ProblemFromJSON, ProvidersApi, ResponseError, SignInApi, VerifyRequestFromJSON,
} from "./index"

declare const process: { argv: string[] }

const given = JSON.parse(process.argv[2])
const requests = given.requests
const service = new Configuration({ basePath: given.service })
const admin = new Configuration({ basePath: given.admin })

/** The code of the problem that a call ends with. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    if (error instanceof ResponseError) return ProblemFromJSON(await error.response.json()).code
    throw error
  }
  throw new Error("not refused")
}

async function main() {
  const signIn = new SignInApi(service)
  const providers = new ProvidersApi(admin)
  const refused = VerifyRequestFromJSON(requests.refused)
  const signedIn = await signIn.verify({ verifyRequest: VerifyRequestFromJSON(requests.verify) })
  const batch = await signIn.verifyBatch({ batchRequest: BatchRequestFromJSON(requests.batch) })
  const begun = await signIn.beginSignIn({ beginRequest: BeginRequestFromJSON(requests.begin) })
  const notified = await signIn.verifyNotification({
    notificationRequest: NotificationRequestFromJSON(requests.notification),
  })
  const granted = await new AuthorizationApi(service).verifyAccessToken({
    accessTokenRequest: AccessTokenRequestFromJSON(requests.access_token),
  })
  const explained = await providers.explain({ explainRequest: refused })
  console.log(JSON.stringify({
    email: [signedIn.identity.email, signedIn.identity.emailTrust],
    refused: await codeOf(signIn.verify({ verifyRequest: refused })),
    batch: batch.results.map((each) => ("error" in each ? each.error.code : each.identity.subject)),
    begun: [begun.nonce !== null, begun.state],
    notified: notified.events.map((event) => event.type),
    scopes: granted.authorization.scopes,
    explained: explained.likelyCause?.check,
    providers: (await providers.listProviders()).providers.map((provider) => provider.id),
  }))
}

main()
