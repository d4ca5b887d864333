# frozen_string_literal: true

# The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.
#
#   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
#   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
#   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
#   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   a provider's notification
#
# The other calls work the same way, by name. A real backend never sends a grant to an app.

require_relative "assay"
require_relative "receiver"

$stdout.sync = true
ASSAY = Assay.new(ENV.fetch("ASSAY_URL", "http://127.0.0.1:8080"), api_key: ENV["ASSAY_API_KEY"])

def members(value)
  case value
  when Struct then value.to_h.transform_values { |member| members(member) }
  when Array then value.map { |element| members(element) }
  else value
  end
end

# Stands in for the database.
KNOWN, DONE = {}, []
RECEIVER = Receiver.new(ASSAY) do |notification|
  key = [notification.provider, notification.id]
  DONE.concat(notification.events.map(&:type)) unless KNOWN[key]
  KNOWN[key] = true
end

def answer(request)
  case request
  in { receive: { content_type:, body: } }
    DONE.clear
    { answered: RECEIVER.receive(content_type, body), done: DONE }
  in { begin: { provider:, **more } }
    { begun: ASSAY.begin(provider, **more).to_h }
  in { begin_in_browser: { provider:, redirect_uri:, **more } }
    { begun_in_browser: ASSAY.begin_in_browser(provider, redirect_uri, **more).to_h }
  in { finish: { sign_in:, **more } }
    { finished: members(ASSAY.finish(sign_in, more.delete(:id_token), **more)) }
  in { finish_in_browser: { sign_in:, response:, **more } }
    { finished: members(ASSAY.finish_in_browser(sign_in, response, **more)) }
  in { refresh: { provider:, refresh_token:, subject:, **more } }
    { refreshed: members(ASSAY.refresh(provider, refresh_token, subject, **more)) }
  in { revoke: { provider:, token:, **more } }
    ASSAY.revoke(provider, token, **more)
    { revoked: true }
  in { revoke_by_code: { provider:, code:, **more } }
    ASSAY.revoke_by_code(provider, code, **more)
    { revoked: true }
  in { verify: members }
    case ASSAY.verify(**members)
    in Assay::Verified[identity] then { verified: identity.to_h }
    in Assay::Refused[code, *] then { refused: code }
    in Assay::Unavailable[retry_after] then { unavailable: retry_after }
    end
  end
end

$stdin.each_line do |line|
  puts JSON.generate(answer(JSON.parse(line, symbolize_names: true)))
rescue Assay::Error => error
  # The text of the error is for the log. It has no token and no handle.
  said = { error: error.status, code: error.code, spent: error.spent, log: error.message }
  puts JSON.generate({ **said, provider_error: error.provider_error, context: error.context })
end
