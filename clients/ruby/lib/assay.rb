# frozen_string_literal: true

require "json"
require "uri"
require_relative "assay/errors"
require_relative "assay/reading"
require_relative "assay/models"
require_relative "assay/transport"

# Verifies ID Tokens and finishes sign-ins with Assay. One for the whole program; threads may share it.
#
# Every call raises Assay::Error. A call is sent again only if nothing was used up: because the connection could not be opened, or
# Assay answered 503 and says so; and calls that use nothing up, also after a lost answer. Retry-After is honoured, and no attempt
# starts later than `retry_for` seconds after the call. So a call takes at most `retry_for` seconds and one timeout.
class Assay
  # Before these, nothing has been used up.
  EARLY = %w[keys_unavailable overloaded shutting_down].freeze
  private_constant :EARLY

  # `url` may be `unix:/path`. Times are in seconds.
  #
  # `api_key_file` is read for each call, so the key can be changed without a restart. `finish_timeout` is for calls that wait for a
  # provider: `finish`, `refresh`, `revoke`. `retry_for: 0` turns retries off. `ca_file`: CA certificates to trust instead of the
  # system's (PEM).
  def initialize(url = "http://127.0.0.1:8080", api_key: nil, api_key_file: nil, timeout: 6, finish_timeout: 12, retry_for: 5,
                 ca_file: nil, transport: nil)
    raise ArgumentError, "give either api_key or api_key_file" if api_key && api_key_file

    @api_key, @api_key_file = api_key, api_key_file
    @timeout, @finish_timeout, @retry_for = timeout, finish_timeout, retry_for
    @transport = transport || HTTPTransport.new(url, ca_file)
  end

  # Begins the sign-in of an app. Options: audience, max_age, subject, issuer, context, expires_in. Returns BegunSignIn.
  def begin(provider, **options)
    call("/v1/sign-ins", { provider: provider, **options }, BegunSignIn, success: 201)
  end

  # Begins a sign-in in the browser. The client of the provider's settings must list `redirect_uri`. Options: as for `begin`, and
  # scopes, prompt, login_hint, ui_locales, acr_values, require_acr, claims, resource, id_token_hint, response_mode. Returns
  # BegunBrowserSignIn.
  def begin_in_browser(provider, redirect_uri, **options)
    members = { provider: provider, redirect_uri: redirect_uri, **options }
    call("/v1/sign-ins", members, BegunBrowserSignIn, success: 201)
  end

  # Finishes the sign-in of an app. An ID Token or a `code` is required. Options: code, access_token, redirect_uri, user,
  # include_claims. Returns FinishedSignIn.
  def finish(sign_in, id_token = nil, **options)
    token = id_token.nil? ? {} : { id_token: id_token }
    call("/v1/sign-ins/finish", { sign_in: sign_in, **token, **options }, FinishedSignIn, uses_up: true)
  end

  # Finishes a sign-in in the browser. `response`: all parameters that `redirect_uri` received. Option: include_claims. Returns
  # FinishedSignIn.
  def finish_in_browser(sign_in, response, redirect_uri, **options)
    members = { sign_in: sign_in, response: response, redirect_uri: redirect_uri, **options }
    call("/v1/sign-ins/finish", members, FinishedSignIn, uses_up: true)
  end

  # Redeems a refresh token. Store `grant.refresh_token`, if there is one, before anything else. Options: binding, issuer, audience, scopes,
  # include_claims. Returns Refreshed.
  def refresh(provider, refresh_token, subject, **options)
    members = { provider: provider, refresh_token: refresh_token, subject: subject, **options }
    call("/v1/grants/refresh", members, Refreshed, uses_up: true)
  end

  # Revokes a token. It is safe to revoke one again. Options: token_type_hint, audience, binding.
  def revoke(provider, token, **options)
    call("/v1/grants/revoke", { provider: provider, token: token, **options }, nil, success: 204, slow: true)
  end

  # Exchanges the code of a native sign-in, and revokes its tokens. Options: redirect_uri, audience, subject, issuer.
  def revoke_code(provider, code, **options)
    call("/v1/grants/revoke", { provider: provider, code: code, **options }, nil, success: 204, uses_up: true)
  end

  # Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one. Options: audience, nonce.
  # Returns Proof.
  def proof(provider, binding, access_token, method, url, **options)
    members = { provider: provider, binding: binding, access_token: access_token, method: method, url: url, **options }
    call("/v1/grants/proof", members, Proof)
  end

  # Where the user signs out at the provider. End your own session first. Options: audience, id_token_hint,
  # post_logout_redirect_uri, logout_hint, ui_locales. Returns SignOut.
  def sign_out(provider, **options)
    call("/v1/sign-outs", { provider: provider, **options }, SignOut)
  end

  # Verifies an ID Token, without `begin` and `finish`. `nonce`: nil only if the sign-in has none. `single_use`: the provider has
  # `nonce.single_use` in Assay's settings. Options: provider, audience, max_age, authenticated_after, subject, issuer,
  # access_token, code, user, include_claims. Returns Verified.
  def verify(id_token, nonce, single_use: false, **options)
    known = nonce.nil? ? {} : { nonce: nonce }
    call("/v1/verify", { id_token: id_token, **known, **options }, Verified, uses_up: single_use, slow: false)
  end

  # Verifies an access token that your API got. Options: provider, audience, subject, issuer, authenticated_after, scopes,
  # include_claims, certificate, and dpop: `{ proof:, method:, url:, scheme: }`, which can be used once. Returns VerifiedAccessToken.
  def verify_access_token(token, **options)
    uses_up = !options[:dpop].nil?
    call("/v1/access-tokens/verify", { token: token, **options }, VerifiedAccessToken, uses_up: uses_up, slow: false)
  end

  # The metadata of a resource of Assay's settings (RFC 9728), a Hash. Serve it as it is.
  def resource_metadata(resource)
    call("/v1/resources/#{URI.encode_www_form_component(resource)}/metadata", nil, ResourceMetadata)
  end

  # Verifies what a provider sent: `token`, or `payload`, the body that Apple sent. Options, for a provider with `issuers: any`:
  # connection, issuer, audience, claim_values, email_domains. Returns VerifiedNotification.
  def verify_notification(token: nil, payload: nil, provider: nil, **options)
    members = { token: token, payload: payload, provider: provider, **options }.compact
    call("/v1/notifications/verify", members, VerifiedNotification)
  end

  # Shows no key.
  def inspect
    "#<Assay>"
  end

  private

  def call(path, members, model, success: 200, uses_up: false, slow: uses_up)
    body, headers = members ? JSON.generate(members) : "", self.headers(members)
    last = @transport.now + @retry_for
    lost = 0
    loop do
      begin
        reply = @transport.send_request(path, body, headers, slow ? @finish_timeout : @timeout, uses_up)
        return read(reply, model, uses_up) if reply.status == success

        problem = problem(reply, uses_up)
        wait = problem.retry_after || 1
      rescue NoAnswer => error
        problem = Error.of(0, detail: error.detail, spent: uses_up && error.sent)
        wait = [0.05 * ((2**lost) - 1), 1].min
        lost += 1
      end
      raise problem if !problem.may_retry? || @transport.now + wait > last

      @transport.sleep(wait)
    end
  end

  def headers(members)
    key = @api_key
    if @api_key_file
      key = File.read(@api_key_file).strip
      raise ArgumentError, "the API key's file #{@api_key_file} is empty" if key.empty?
    end
    (members ? { "Content-Type" => "application/json" } : {}).merge(key ? { "Authorization" => "Bearer #{key}" } : {})
  end

  def read(reply, model, uses_up)
    model&.of(JSON.parse(reply.body))
  rescue JSON::ParserError, NotAssays
    raise Error.of(reply.status, spent: uses_up), cause: nil
  end

  def problem(reply, uses_up)
    members = parsed(reply.body)
    known = %w[code detail request_id claim provider_error context dpop_nonce].to_h { |name| [name.to_sym, members[name]] }
    known = known.select { |_, value| value.is_a?(String) }
    spent = members["spent"]
    unless [true, false].include?(spent)
      # Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
      spent = known[:code].nil? || (reply.status == 503 && !EARLY.include?(known[:code]))
      # A verification needs the store only for a single-use nonce or a proof.
      uses_up ||= known[:code] == "store_unavailable"
    end
    known[:challenge] = challenge(members)
    Error.of(reply.status, **known, spent: uses_up && spent, retry_after: reply.retry_after, members: members)
  end

  def challenge(members)
    Challenge.of(members["challenge"])
  rescue NotAssays
    nil
  end

  def parsed(text)
    members = JSON.parse(text)
    members.is_a?(Hash) ? members : {}
  rescue JSON::ParserError
    {}
  end
end

require_relative "assay/fake"
