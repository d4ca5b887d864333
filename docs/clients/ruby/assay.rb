# frozen_string_literal: true

require "json"
require "net/http"

# Asks Assay whose ID Token it is. Ruby 3.1 or later, standard library alone. One for the whole program; each thread
# keeps a connection of its own.
class Assay
  # Who signed in. `[issuer, subject]` is the key under which to store the user.
  Identity = Struct.new(
    :provider, :issuer, :subject, :email, :email_verified, :email_trust, :is_private_email,
    :name, :given_name, :family_name, :name_source, :preferred_username, :picture, :locale,
    :real_user_status, :transfer_subject, :tenant, :hosted_domain,
    keyword_init: true
  )

  Verified = Struct.new(:identity)
  # Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid.
  Refused = Struct.new(:code, :claim, :request_id)
  # Nobody can say just now; the same request may succeed after so many seconds.
  Unavailable = Struct.new(:retry_after)

  # A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500).
  class Error < StandardError
    attr_reader :status, :code, :request_id

    def initialize(status, code, request_id)
      super("Assay answered #{status} #{code}, request #{request_id}")
      @status, @code, @request_id = status, code, request_id
    end
  end

  # `timeout`, in seconds, is a little longer than Assay waits for a provider's keys.
  def initialize(url = "http://127.0.0.1:8080", api_key: nil, timeout: 6)
    @uri = URI(url)
    @timeout = timeout
    @key = :"assay_connection_#{object_id}"
    @headers = { "Content-Type" => "application/json" }
    @headers["Authorization"] = "Bearer #{api_key}" if api_key
  end

  # `more`: `audience`, `max_age`, `access_token`, `code`, `user`. Raises Error.
  def verify(provider:, id_token:, nonce:, **more)
    request = { provider: provider, id_token: id_token, nonce: nonce, **more }.compact
    begin
      response = post(JSON.generate(request))
    rescue SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError,
           Net::HTTPBadResponse
      forget_connection
      return Unavailable.new(1)
    end
    verdict(response.code.to_i, response)
  end

  private

  def post(body)
    connection.post("/v1/verify", body, @headers)
  rescue EOFError, Errno::ECONNRESET, Errno::EPIPE
    # A kept connection was closed just then: the request may be sent again, on another.
    forget_connection
    connection.post("/v1/verify", body, @headers)
  end

  def verdict(status, response)
    answer = read(response.body)
    case [status, answer]
    in [200, { identity: { issuer: String, subject: String } => identity }]
      Verified.new(Identity.new(**identity.slice(*Identity.members)))
    in [422, { code: String => code, request_id: String => request_id }]
      Refused.new(code, answer[:claim], request_id)
    in [503, _]
      Unavailable.new(response["Retry-After"]&.to_i || 1)
    else
      raise Error.new(status, answer[:code], answer[:request_id])
    end
  end

  # The members of an answer; none if it is no JSON object, since then it was not Assay that answered.
  def read(body)
    answer = JSON.parse(body, symbolize_names: true)
    answer.is_a?(Hash) ? answer : {}
  rescue JSON::ParserError
    {}
  end

  # A kept connection that was closed meanwhile is noticed and opened anew by Net::HTTP.
  def connection
    Thread.current.thread_variable_get(@key) || begin
      # No proxy: the token is for Assay alone.
      http = Net::HTTP.new(@uri.hostname, @uri.port, nil)
      http.use_ssl = @uri.scheme == "https"
      http.open_timeout = http.read_timeout = http.write_timeout = @timeout
      http.keep_alive_timeout = 60
      http.start
      Thread.current.thread_variable_set(@key, http)
      http
    end
  end

  def forget_connection
    Thread.current.thread_variable_get(@key)&.finish
  rescue IOError
    nil # It was closed already.
  ensure
    Thread.current.thread_variable_set(@key, nil)
  end
end
