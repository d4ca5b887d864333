# frozen_string_literal: true

# The backend's side of sign-ins: reads what apps ask as JSON, one request a line, and writes the answers.
#
#   {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
#   {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back what it kept, and what the provider gave it
#   {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
#   {"receive": {"content_type": "application/json", "body": "{\"payload\": \"eyJ…\"}"}}   what a provider sends later

require_relative "assay"
require_relative "receiver"

$stdout.sync = true
ASSAY = Assay.new(ENV.fetch("ASSAY_URL", "http://127.0.0.1:8080"), api_key: ENV["ASSAY_API_KEY"])

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
  in { finish: { sign_in:, id_token:, **more } }
    finished = ASSAY.finish(sign_in, id_token, **more)
    { finished: { identity: finished.identity.to_h, context: finished.context } }
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
  puts JSON.generate({ error: error.status, code: error.code, spent: error.spent, log: error.message })
end
