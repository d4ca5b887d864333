# frozen_string_literal: true

require "json"
require "net/http"

# Signs users in with Assay. Ruby 3.1 or later, standard library only. One for the whole program; each thread
# keeps a connection of its own.
class Assay
  # Who signed in. `[issuer, subject]` is the key under which to store the user.
  Identity = Struct.new(
    :provider, :issuer, :subject, :email, :email_verified, :email_trust, :is_private_email,
    :name, :given_name, :family_name, :name_source, :preferred_username, :picture, :locale,
    :real_user_status, :transfer_subject, :tenant, :hosted_domain,
    keyword_init: true
  )

  # A sign-in to be finished before `expires_at` (Unix seconds). The app gives the provider `nonce_sha256` or `nonce`.
  #
  # `sign_in` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
  # URL, or look it up by a value from a request.
  BegunSignIn = Struct.new(:sign_in, :nonce, :nonce_sha256, :expires_at, keyword_init: true) do
    def inspect = "#<#{self.class} until #{expires_at}>"
    alias_method :to_s, :inspect
  end

  # A sign-in to be finished before `expires_at` (Unix seconds). Redirect the browser to `authorization_url`.
  #
  # `sign_in` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
  BegunBrowserSignIn = Struct.new(:sign_in, :state, :authorization_url, :expires_at, keyword_init: true) do
    def inspect = "#<#{self.class} until #{expires_at}>"
    alias_method :to_s, :inspect
  end

  # The provider's tokens, for the backend only: never log them, or send them to an app or a page.
  #
  # Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refresh_token` is nil after a
  # refresh, the old one stays valid. If `scopes` is nil, the provider granted those that were requested.
  Grant = Struct.new(
    :access_token, :token_type, :expires_at, :refresh_token, :scopes, :id_token, keyword_init: true
  ) do
    def inspect = "#<#{self.class} until #{expires_at}>"
    alias_method :to_s, :inspect
  end

  # Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged.
  FinishedSignIn = Struct.new(:identity, :context, :grant)

  # Store the new refresh token, if there is one, before anything else: the old one may be used up.
  #
  # `identity` is nil if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
  # `keys_unavailable`.
  Refreshed = Struct.new(:grant, :identity, :problem)

  # What happened. `subject` is the user's, as in Identity; `data` has the rest of the event.
  Event = Struct.new(
    :type, :subject, :session_id, :email, :is_private_email, :occurred_at, :reason, :data, keyword_init: true
  )
  # A verified notification. `[provider, id]` is the same for repeated deliveries.
  Notification = Struct.new(:provider, :issuer, :kind, :id, :issued_at, :events, keyword_init: true)

  Verified = Struct.new(:identity)
  # Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid.
  Refused = Struct.new(:code, :claim, :request_id)
  # Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after this many seconds.
  Unavailable = Struct.new(:retry_after)

  # A problem. Without a response, `status` is 0 and `code` is nil.
  #
  # `spent` is for a finish, a refresh or a revocation. If it is false, nothing was used up: at 0 or 503, the request may be
  # sent again, after `retry_after` seconds if that is not nil. If it is true, the sign-in, code or refresh token is, or may
  # be, used up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `code` is
  # `grant_invalid`; otherwise, try it once more later.
  #
  # `provider_error` is the provider's error code. `context` is the begin call's, if the user or the provider
  # ended it (`sign_in_denied`, `provider_refused`): don't log it.
  class Error < StandardError
    attr_reader :status, :code, :request_id, :spent, :retry_after, :provider_error, :context

    def initialize(status, code, request_id, spent: false, retry_after: nil, provider_error: nil, context: nil)
      super(status.zero? ? "Assay did not answer" : "Assay answered #{status} #{code}, request #{request_id}")
      @status, @code, @request_id, @spent, @retry_after = status, code, request_id, spent, retry_after
      @provider_error, @context = provider_error, context
    end

    # The `context` stays out of logs.
    def inspect = "#<#{self.class}: #{message}>"
  end

  # Timeouts, in seconds, are a little longer than Assay waits for a provider. `finish_timeout` is for a finish, a refresh
  # and a revocation.
  def initialize(url = "http://127.0.0.1:8080", api_key: nil, timeout: 6, finish_timeout: 12)
    @uri = URI(url)
    @timeout, @finish_timeout = timeout, finish_timeout
    @key = :"assay_connection_#{object_id}"
    @headers = { "Content-Type" => "application/json" }
    @headers["Authorization"] = "Bearer #{api_key}" if api_key
  end

  # `more`: `audience`, `max_age`, `subject`, `issuer`, `context`, `expires_in`. Raises Error.
  def begin(provider, **more)
    ask("/v1/sign-ins", { provider: provider, **more }) do |status, answer|
      case [status, answer]
      in [201, { sign_in: String, nonce: String, nonce_sha256: String, expires_at: Integer }]
        BegunSignIn.new(**answer.slice(*BegunSignIn.members))
      else nil
      end
    end
  end

  # `redirect_uri`: one of the client's `redirect_uris` in Assay's settings. `more`: as for `begin`, and `scopes`, `prompt`,
  # `login_hint`, `ui_locales`, `acr_values`, `response_mode`. Raises Error.
  def begin_in_browser(provider, redirect_uri, **more)
    ask("/v1/sign-ins", { provider: provider, redirect_uri: redirect_uri, **more }) do |status, answer|
      case [status, answer]
      in [201, { sign_in: String, state: String, authorization_url: String, expires_at: Integer }]
        BegunBrowserSignIn.new(**answer.slice(*BegunBrowserSignIn.members))
      else nil
      end
    end
  end

  # `more`: `access_token`, `code`, `redirect_uri`, `user`. An ID Token or a code is required. Raises Error. The request is
  # sent only once.
  def finish(sign_in, id_token = nil, **more)
    finish_with({ sign_in: sign_in, id_token: id_token, **more }.compact)
  end

  # `response`: all parameters that the redirect URI received. `more`: that `redirect_uri`. Raises Error. The request is sent
  # only once.
  def finish_in_browser(sign_in, response, **more)
    finish_with({ sign_in: sign_in, response: response, **more })
  end

  # `more`: `issuer`, `audience`, `scopes`. Raises Error. The request is sent only once.
  def refresh(provider, refresh_token, subject, **more)
    request = { provider: provider, refresh_token: refresh_token, subject: subject, **more }
    ask_once("/v1/grants/refresh", request) do |status, answer|
      case [status, answer]
      in [200, { grant: { access_token: String }, identity: { issuer: String, subject: String } | nil, problem: }]
        Refreshed.new(grant(answer), identity(answer), problem&.fetch(:code))
      else nil
      end
    end
  end

  # Raises Error, never `spent`: it is safe to revoke a token again. `more`: `token_type_hint`, `audience`.
  def revoke(provider, token, **more)
    request = { provider: provider, token: token, **more }
    ask_once("/v1/grants/revoke", request, uses_up: false) { |status, _| status == 204 }
    nil
  end

  # Exchanges the code, and revokes the tokens. `more`: `redirect_uri`, `audience`, and `subject` with `issuer`: a code of
  # another user is refused. Raises Error. The request is sent only once.
  def revoke_by_code(provider, code, **more)
    ask_once("/v1/grants/revoke", { provider: provider, code: code, **more }) { |status, _| status == 204 }
    nil
  end

  # `more`: `audience`, `max_age`, `access_token`, `code`, `user`, `subject`, `issuer`, `authenticated_after`. Raises Error.
  # `single_use`: the provider has `nonce.single_use`, so the request is sent once.
  def verify(provider:, id_token:, nonce:, single_use: false, **more)
    request = { provider: provider, id_token: id_token, **more }
    request[:nonce] = nonce unless nonce.nil?
    response = single_use ? post_once("/v1/verify", request, @timeout) : post("/v1/verify", request)
    verdict(response, read(response))
  rescue *NO_ANSWER
    forget_connection
    Unavailable.new(1)
  end

  # `sent`: either `token`, or `payload`, the body that Apple sent; perhaps `provider`. Raises Error.
  def notification(**sent)
    response = post("/v1/notifications/verify", sent)
    case [response.code.to_i, read(response)]
    in [200, { notification: { provider: String, id: String } => notification, events: Array => events }]
      events = events.map { |event| Event.new(**event.slice(*Event.members)) }
      Notification.new(**notification.slice(*Notification.members), events: events)
    in [_, answer]
      raise problem(response, answer)
    end
  rescue *NO_ANSWER
    forget_connection
    raise Error.new(0, nil, nil)
  end

  private

  NO_ANSWER = [
    SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, Net::HTTPBadResponse
  ].freeze
  private_constant :NO_ANSWER

  # Returns what the block makes of the status and the answer. If that is nil, raises Error.
  def ask(path, request)
    response = post(path, request)
    answer = read(response)
    yield(response.code.to_i, answer) || raise(problem(response, answer))
  rescue *NO_ANSWER
    forget_connection
    raise Error.new(0, nil, nil)
  end

  # As `ask`, but the request is sent once. `uses_up`: without a response, something may be used up.
  def ask_once(path, request, uses_up: true)
    sent = false
    response = post_once(path, request, @finish_timeout) { sent = true }
    answer = read(response)
    # A response without `spent` is not Assay's, and the request may have arrived.
    spent = uses_up && answer[:spent] != false
    yield(response.code.to_i, answer) || raise(problem(response, answer, spent: spent))
  rescue *NO_ANSWER
    raise Error.new(0, nil, nil, spent: uses_up && sent)
  end

  def finish_with(request)
    ask_once("/v1/sign-ins/finish", request) do |status, answer|
      case [status, { grant: nil }.merge(answer)]
      in [200, { identity: { issuer: String, subject: String }, context:, grant: { access_token: String } | nil }]
        FinishedSignIn.new(identity(answer), context, grant(answer))
      else nil
      end
    end
  end

  def identity(answer)
    answer[:identity] && Identity.new(**answer[:identity].slice(*Identity.members))
  end

  def grant(answer)
    answer[:grant] && Grant.new(**answer[:grant].slice(*Grant.members))
  end

  # A request without side effects, which is safe to resend.
  def post(path, request)
    connection.post(path, JSON.generate(request), @headers)
  rescue EOFError, Errno::ECONNRESET, Errno::EPIPE
    # A reused connection was closed at that moment.
    forget_connection
    connection.post(path, JSON.generate(request), @headers)
  end

  # Over a new connection, which Assay has not closed as idle. Yields once it is there.
  def post_once(path, request, timeout)
    body = JSON.generate(request)
    new_connection(timeout).start do |http|
      yield if block_given?
      http.post(path, body, @headers)
    end
  end

  def verdict(response, answer)
    case [response.code.to_i, answer]
    in [200, { identity: { issuer: String, subject: String } }]
      Verified.new(identity(answer))
    in [422, { code: String => code, request_id: String => request_id }]
      Refused.new(code, answer[:claim], request_id)
    in [503, _]
      Unavailable.new(response["Retry-After"]&.to_i || 1)
    else
      raise problem(response, answer)
    end
  end

  def problem(response, answer, spent: false)
    retry_after = response["Retry-After"]&.to_i
    more = { spent: spent, retry_after: retry_after, **answer.slice(:provider_error, :context) }
    Error.new(response.code.to_i, answer[:code], answer[:request_id], **more)
  end

  # The members of an answer; none if it is not a JSON object, because then the response is not Assay's.
  def read(response)
    # An answer of 204 has no body.
    answer = JSON.parse(response.body || "", symbolize_names: true)
    answer.is_a?(Hash) ? answer : {}
  rescue JSON::ParserError
    {}
  end

  # A kept connection that was closed meanwhile is noticed and reopened by Net::HTTP.
  def connection
    Thread.current.thread_variable_get(@key) || begin
      http = new_connection(@timeout)
      http.start
      Thread.current.thread_variable_set(@key, http)
      http
    end
  end

  def new_connection(timeout)
    # No proxy: only Assay may see the token.
    http = Net::HTTP.new(@uri.hostname, @uri.port, nil)
    http.use_ssl = @uri.scheme == "https"
    http.open_timeout = http.read_timeout = http.write_timeout = timeout
    http.keep_alive_timeout = 60
    http
  end

  def forget_connection
    Thread.current.thread_variable_get(@key)&.finish
  rescue IOError
    nil # It was closed already.
  ensure
    Thread.current.thread_variable_set(@key, nil)
  end
end
