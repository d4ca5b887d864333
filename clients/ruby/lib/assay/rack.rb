# frozen_string_literal: true

require "rack"
require "uri"
require "assay"

class Assay
  # Sign-ins in the browser for Rack: `/sign-in/{provider}?return_to=/path` redirects to the provider, and `/callback/{provider}` is the
  # redirect URI. The site needs HTTPS, or the host `localhost`.
  #
  #   use Assay::SignIns, assay: Assay.new, origin: "https://example.com", providers: { "apple" => "com.example.web" } do |env, finished|
  #     env["rack.session"].clear # a new session, so that nobody who knows the old one is signed in
  #     env["rack.session"]["user"] = [finished.identity.issuer, finished.identity.subject]
  #     [303, { "location" => finished.context }, []]
  #   end
  class SignIns
    LARGEST_FORM = 65_536
    # A path that begins with two slashes would be another site's.
    OWN_PATH = %r{\A/(?![/\\])[\x21-\x7e]{0,500}\z}
    # The URL of a callback contains a code, which no other site may see.
    COMMON = { "cache-control" => "no-store", "referrer-policy" => "same-origin" }.freeze
    private_constant :LARGEST_FORM, :OWN_PATH, :COMMON

    # Other requests go to `app`. `options` are more options of `begin_in_browser`, such as `scopes`. The block starts a session, with a
    # new ID, and returns a Rack response.
    def initialize(app, assay:, origin:, providers:, **options, &signed_in)
      @app, @assay, @origin, @providers, @options, @signed_in = app, assay, origin.chomp("/"), providers, options, signed_in
    end

    def call(env)
      kind, provider = env["PATH_INFO"].match(%r{\A/(sign-in|callback)/([^/]+)\z})&.captures
      case [kind, env["REQUEST_METHOD"]]
      when %w[sign-in GET] then start(provider, pairs(env["QUERY_STRING"]).to_h)
      when %w[callback GET] then finish(env, provider, env["QUERY_STRING"])
      when %w[callback POST] then finish(env, provider, env["rack.input"].read(LARGEST_FORM + 1).to_s)
      else @app.call(env)
      end
    end

    private

    def start(provider, parameters)
      return answer(404, "Not found.") unless @providers.key?(provider)

      path = parameters.fetch("return_to", "/")
      options = @options.merge(audience: @providers[provider], context: path.match?(OWN_PATH) ? path : "/")
      begun = @assay.begin_in_browser(provider, redirect_uri(provider), **options)
      # The provider's page posts a form from another site, and browsers send no Lax cookie with it.
      # A request that was pushed or signed does not show how it is answered.
      same_site = begun.authorization_url.match?(/response_mode=form_post|request=|request_uri=/) ? "None" : "Lax"
      kept = cookie("__Host-sign-in-#{begun.state}", begun.sign_in, 600, same_site)
      answer(303, "", { "location" => begun.authorization_url }, kept)
    rescue Error => e
      warn "begin: #{e.message}"
      answer(e.may_retry? ? 503 : 500, "Signing in is not possible right now. Please try again later.")
    end

    def finish(env, provider, text)
      return answer(413, "That did not work.") if text.bytesize > LARGEST_FORM

      every = pairs(text)
      response = every.to_h
      name = "__Host-sign-in-#{response["state"]}"
      # The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
      sign_in = cookie_value(env["HTTP_COOKIE"].to_s.b, name.b)
      unless @providers.key?(provider) && sign_in && response.size == every.size
        return answer(400, "This sign-in was begun in another browser, or too long ago. Please sign in again.")
      end

      finish_with(env, provider, sign_in, response, cookie(name, "", 0, "Lax"))
    end

    def finish_with(env, provider, sign_in, response, done)
      status, headers, body = @signed_in.call(env, @assay.finish_in_browser(sign_in, response, redirect_uri(provider)))
      [status, COMMON.merge(with_cookie(headers, done)), body]
    rescue Error => e
      if e.code == "sign_in_denied"
        return answer(303, "", { "location" => e.context.to_s.match?(OWN_PATH) ? e.context : "/" }, done)
      end

      warn "finish: #{e.message}"
      # The cookie stays, so that reloading the page repeats the finish.
      return answer(503, "Signing in takes longer than usual. Please reload this page in a moment.") if e.may_retry?

      answer([0, 422, 503].include?(e.status) ? 400 : 500, "That did not work. Please sign in again.", {}, done)
    end

    def redirect_uri(provider)
      "#{@origin}/callback/#{provider}"
    end

    def pairs(text)
      URI.decode_www_form(text.to_s)
    rescue ArgumentError
      []
    end

    def answer(status, text, headers = {}, cookie = nil)
      headers = with_cookie(headers, cookie) if cookie
      [status, COMMON.merge({ "content-type" => "text/plain; charset=utf-8" }, headers), [text]]
    end

    # Session middleware adds its cookie under Rack's own name of the header, which is capitalized in Rack 2. Under another name, one of
    # the two would be lost.
    def with_cookie(headers, added)
      cookies, others = headers.partition { |name, _| name.casecmp?("set-cookie") }
      lines = [*cookies.flat_map(&:last), added]
      others.to_h.merge(Rack::SET_COOKIE => Rack.release.to_i < 3 ? lines.join("\n") : lines)
    end

    # Sent only to this host over HTTPS, and hidden from scripts.
    def cookie(name, value, seconds, same_site)
      "#{name}=#{value}; Max-Age=#{seconds}; Path=/; Secure; HttpOnly; SameSite=#{same_site}"
    end

    # A cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a `__Host-` cookie.
    # Two cookies of one name count as none, because one of them may be an attacker's.
    def cookie_value(header, name)
      found = header.split(";").map { |pair| pair.gsub(/\A[ \t]+|[ \t]+\z/n, "").partition("=") }
      values = found.select { |each, equals, _| !equals.empty? && each == name }.map(&:last)
      values.first if values.size == 1
    end
  end
end
