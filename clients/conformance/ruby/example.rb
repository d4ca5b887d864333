require "assay-client"

# Finishes an app's sign-in: the status and the body of the response.
def finish(assay, sign_in, id_token)
  identity = assay.finish(sign_in, id_token).identity
  # Find or create the user with these two, and start a session.
  [200, { issuer: identity.issuer, subject: identity.subject }]
rescue Assay::Error => e
  warn "sign-in: #{e.message}"
  return [503, { error: "try again later" }] if e.may_retry?
  return [401, { error: "start a new sign-in" }] if e.spent || e.is_a?(Assay::Refused)

  [500, { error: "internal error" }]
end
