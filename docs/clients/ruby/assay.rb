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
  # URL, or look it up by something that a request brings.
  BegunSignIn = Struct.new(:sign_in, :nonce, :nonce_sha256, :expires_at, keyword_init: true) do
    def inspect = "#<#{self.class} until #{expires_at}>"
    alias_method :to_s, :inspect
  end

  # Sign this user in. `context` is what the sign-in was begun with.
  FinishedSignIn = Struct.new(:identity, :context)

  # What happened. `subject` is the user's, as in Identity; `data` is what the other members don't say.
  Event = Struct.new(
    :type, :subject, :session_id, :email, :is_private_email, :occurred_at, :reason, :data, keyword_init: true
  )
  # What a provider has sent. `[provider, id]` is the same each time it is delivered.
  Notification = Struct.new(:provider, :issuer, :kind, :id, :issued_at, :events, keyword_init: true)

  Verified = Struct.new(:identity)
  # Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid.
  Refused = Struct.new(:code, :claim, :request_id)
  # Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after so many seconds.
  Unavailable = Struct.new(:retry_after)

  # A problem. If no answer came, `status` is 0 and `code` is nil.
  #
  # `spent` matters after a finish. If it is false, nothing was used up: the same finish may be sent again, after
  # `retry_after` seconds if that is not nil. If it is true, the sign-in is used up, or may be: begin a new one.
  class Error < StandardError
    attr_reader :status, :code, :request_id, :spent, :retry_after

    def initialize(status, code, request_id, spent: false, retry_after: nil)
      super(status.zero? ? "Assay did not answer" : "Assay answered #{status} #{code}, request #{request_id}")
      @status, @code, @request_id, @spent, @retry_after = status, code, request_id, spent, retry_after
    end
  end

  # Timeouts, in seconds, are a little longer than Assay waits for a provider.
  def initialize(url = "http://127.0.0.1:8080", api_key: nil, timeout: 6, finish_timeout: 12)
    @uri = URI(url)
    @timeout, @finish_timeout = timeout, finish_timeout
    @key = :"assay_connection_#{object_id}"
    @headers = { "Content-Type" => "application/json" }
    @headers["Authorization"] = "Bearer #{api_key}" if api_key
  end

  # `more`: `audience`, `max_age`, `subject`, `issuer`, `context`, `expires_in`. Raises Error.
  def begin(provider, **more)
    response = post("/v1/sign-ins", { provider: provider, **more })
    case [response.code.to_i, read(response)]
    in [201, { sign_in: String, nonce: String, nonce_sha256: String, expires_at: Integer } => begun]
      BegunSignIn.new(**begun.slice(*BegunSignIn.members))
    in [_, answer]
      raise problem(response, answer)
    end
  rescue *NO_ANSWER
    forget_connection
    raise Error.new(0, nil, nil)
  end

  # `more`: `access_token`, `code`, `user`. Raises Error. The request is sent once, whatever happens.
  def finish(sign_in, id_token, **more)
    sent = false
    request = { sign_in: sign_in, id_token: id_token, **more }
    response = post_once("/v1/sign-ins/finish", request, @finish_timeout) { sent = true }
    case [response.code.to_i, read(response)]
    in [200, { identity: { issuer: String, subject: String } => identity, context: }]
      FinishedSignIn.new(Identity.new(**identity.slice(*Identity.members)), context)
    in [_, answer]
      # An answer without `spent` is not Assay's own: the request may have arrived.
      raise problem(response, answer, spent: answer[:spent] != false)
    end
  rescue *NO_ANSWER
    raise Error.new(0, nil, nil, spent: sent)
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

  # A request without side effects, which is safe to resend.
  def post(path, request)
    connection.post(path, JSON.generate(request), @headers)
  rescue EOFError, Errno::ECONNRESET, Errno::EPIPE
    # A kept connection was closed just then.
    forget_connection
    connection.post(path, JSON.generate(request), @headers)
  end

  # Over a new connection, which Assay has no reason to have closed. Yields once it is there.
  def post_once(path, request, timeout)
    body = JSON.generate(request)
    new_connection(timeout).start do |http|
      yield if block_given?
      http.post(path, body, @headers)
    end
  end

  def verdict(response, answer)
    case [response.code.to_i, answer]
    in [200, { identity: { issuer: String, subject: String } => identity }]
      Verified.new(Identity.new(**identity.slice(*Identity.members)))
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
    Error.new(response.code.to_i, answer[:code], answer[:request_id], spent: spent, retry_after: retry_after)
  end

  # The members of an answer; none if it is not a JSON object, since then it was not Assay that answered.
  def read(response)
    answer = JSON.parse(response.body, symbolize_names: true)
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
    # No proxy: the token is for Assay alone.
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
