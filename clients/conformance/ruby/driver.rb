# frozen_string_literal: true

# Runs the conformance cases with the installed gem: reads calls as JSON, one per line, and writes what they return.

require "assay-client"
require "json"
require_relative "example"

CLIENTS = {}

def script(fake, acts)
  acts.each do |act|
    if act[:will]
      fake.will(act[:will], **act.fetch(:members, {}))
    elsif act[:fail]
      fake.will_fail(act[:fail], act[:status], act[:code], retry_after: act[:retry_after], **act.fetch(:members, {}))
    else
      fake.will_not_answer(act[:no_answer], sent: act[:sent])
    end
  end
end

def client(options)
  CLIENTS[options] ||= begin
    members = options.except(:case, :script, :url)
    if options[:script]
      fake = Assay::Fake.new(**members)
      script(fake, options[:script])
      fake
    else
      Assay.new(options[:url], **members)
    end
  end
end

ARGUMENTS = {
  begin: %i[provider], begin_in_browser: %i[provider redirect_uri], finish: %i[sign_in id_token],
  finish_in_browser: %i[sign_in response redirect_uri], refresh: %i[provider refresh_token subject], revoke: %i[provider token],
  revoke_code: %i[provider code], verify: %i[id_token nonce], verify_access_token: %i[token], verify_notification: [],
  sign_out: %i[provider], proof: %i[provider binding access_token method url]
}.freeze

def tree(value)
  case value
  when Struct then value.to_h.transform_values { |each| tree(each) }
  when Array then value.map { |each| tree(each) }
  else value
  end
end

def answer(asked)
  return { result: Assay::Code::ALL.sort } if asked[:call] == "codes"

  assay = client(asked[:client])
  return { result: { requests: assay.requests.map(&:first), waited: assay.waited } } if asked[:call] == "fake"

  return { result: finish(assay, "the-secret-handle", "the.secret.token") } if asked[:call] == "example"

  names = ARGUMENTS.fetch(asked[:call].to_sym)
  result = assay.public_send(asked[:call], *names.map { |name| asked[:with][name] }, **asked[:with].except(*names))
  { result: tree(result), printed: "#{result} #{result.inspect} #{[result]}" }
rescue Assay::Error => e
  kind = { Assay::Refused => "refused", Assay::Unavailable => "unavailable" }.fetch(e.class, "error")
  names = %i[status code detail spent retry_after request_id claim provider_error context challenge dpop_nonce]
  { error: names.to_h { |name| [name, tree(e.public_send(name))] }.merge(kind: kind, may_retry: e.may_retry?), printed: "#{e} #{e.inspect}" }
end

$stdout.sync = true
$stdin.each_line do |line|
  puts JSON.generate(answer(JSON.parse(line, symbolize_names: true)))
rescue StandardError => e
  puts JSON.generate({ failed: "#{e.class}: #{e.message} #{e.backtrace.first}" })
end
