# frozen_string_literal: true

# A site with the gem's middleware: reads requests as JSON, one per line, and writes responses.

require "assay/rack"
require "json"
require "rack/session/cookie"

# Renews the session at every response, as a sliding expiry does.
class Renewing
  def initialize(app)
    @app = app
  end

  def call(env)
    env["rack.session"]["seen"] = true
    @app.call(env)
  end
end

assay = Assay.new(ARGV[0], api_key: ARGV[1], retry_for: 0)
SITE = Rack::Builder.new do
  use Rack::Session::Cookie, key: "session", secret: "s" * 64, expire_after: 600
  use Renewing
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
  sessions, cookies = Array(headers["set-cookie"]).flat_map { |each| each.split("\n") }.partition { |each| each.start_with?("session=") }
  raise "the session's cookie is lost" if sessions.size != 1

  puts JSON.generate(status: response.status, location: headers["location"], cookies: cookies, body: response.body)
end
