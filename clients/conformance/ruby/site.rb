# frozen_string_literal: true

# A site with the gem's middleware: reads requests as JSON, one per line, and writes responses.

require "assay/rack"
require "json"
require "rack"

assay = Assay.new(ARGV[0], api_key: ARGV[1], retry_for: 0)
SITE = Rack::Builder.new do
  use Assay::SignIns, assay: assay, origin: "https://example.com", providers: { "oidc" => "client", "down" => "client" } do |_, finished|
    [200, { "content-type" => "application/json" }, [JSON.generate(subject: finished.identity.subject, context: finished.context)]]
  end
  run ->(_) { [404, {}, []] }
end.to_app

$stdout.sync = true
$stdin.each_line do |line|
  asked = JSON.parse(line)
  response = Rack::MockRequest.new(SITE).request(asked["method"], asked["path"], input: asked["body"], "HTTP_COOKIE" => asked["cookie"])
  headers = response.headers.to_h.transform_keys(&:downcase)
  cookies = Array(headers["set-cookie"]).flat_map { |each| each.split("\n") }
  puts JSON.generate(status: response.status, location: headers["location"], cookies: cookies, body: response.body)
end
