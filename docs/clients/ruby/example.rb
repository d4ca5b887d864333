# frozen_string_literal: true

# Reads sign-ins as JSON, one a line, and says of each what Assay said.

require_relative "assay"

$stdout.sync = true
assay = Assay.new(ENV.fetch("ASSAY_URL", "http://127.0.0.1:8080"), api_key: ENV["ASSAY_API_KEY"])

def said(verdict)
  case verdict
  in Assay::Verified[identity] then { verified: identity.to_h }
  in Assay::Refused[code, *] then { refused: code }
  in Assay::Unavailable[retry_after] then { unavailable: retry_after }
  end
end

$stdin.each_line do |line|
  puts JSON.generate(said(assay.verify(**JSON.parse(line, symbolize_names: true))))
rescue Assay::Error => error
  puts JSON.generate({ error: error.status, code: error.code })
end
