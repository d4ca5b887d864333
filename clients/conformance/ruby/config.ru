require "assay/rack"
require "rack/session/cookie"

use Rack::Session::Cookie, secret: File.read("/run/secrets/session")

assay = Assay.new(api_key_file: "/run/secrets/assay")
apple = { "apple" => "com.example.web" }
use Assay::SignIns, assay: assay, origin: "https://example.com", providers: apple, scopes: %w[name email] do |env, finished|
  # A new session, so that nobody who knows the old one is signed in.
  env["rack.session"].clear
  env["rack.session"]["user"] = [finished.identity.issuer, finished.identity.subject]
  [303, { "location" => finished.context || "/" }, []]
end

run ->(env) { [200, {}, ["Signed in as #{env["rack.session"]["user"]}"]] }
