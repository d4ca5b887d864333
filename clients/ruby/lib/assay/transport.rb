# frozen_string_literal: true

require "net/http"
require "openssl"
require "socket"
require "uri"

class Assay
  # The connection failed. `sent`: Assay may have got the request anyway. `detail`: where; unless `sent`, also why.
  class NoAnswer < StandardError
    attr_reader :sent, :detail

    def initialize(sent, detail = nil)
      super(detail || "no answer")
      @sent, @detail = sent, detail
    end
  end

  Reply = Struct.new(:status, :body, :retry_after)

  # HTTP over TCP, TLS or a Unix domain socket. Follows no redirect and uses no proxy: only Assay may see a token. Each thread keeps
  # a connection of its own.
  class HTTPTransport
    FAILURES = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError,
                Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError].freeze
    private_constant :FAILURES

    def initialize(url, ca_file)
      @socket = url.delete_prefix("unix:") if url.start_with?("unix:")
      @uri = URI(@socket ? "http://localhost" : url)
      unless @uri.is_a?(URI::HTTP)
        raise ArgumentError, "the URL must begin with http://, https:// or unix:; found #{url.inspect}"
      end

      # For errors: without what a URL may have before its host, or after.
      @place = @socket ? url : "#{@uri.scheme}://#{@uri.host}:#{@uri.port}"
      @prefix = @uri.path.chomp("/")
      @ca_file = ca_file
      @key = :"assay_#{object_id}"
    end

    # Raises NoAnswer. Without a body, it is a GET. `once`: over a new connection, which nobody has closed as idle.
    def send_request(path, body, headers, timeout, once)
      connection = once ? self.connection : (Thread.current.thread_variable_get(@key) || kept)
      connection.open_timeout = connection.read_timeout = connection.write_timeout = timeout
      exchange(connection, path, body, headers)
    ensure
      finish(connection) if once && connection
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def sleep(seconds)
      Kernel.sleep(seconds)
    end

    private

    def exchange(connection, path, body, headers)
      sent = false
      connection.start unless connection.started?
      sent = true
      response = body.empty? ? connection.get(@prefix + path, headers) : connection.post(@prefix + path, body, headers)
      seconds = response["Retry-After"]
      Reply.new(response.code.to_i, response.body.to_s, seconds&.match?(/\A[0-9]{1,9}\z/) ? seconds.to_i : nil)
    rescue *FAILURES => e
      # The next request opens it again.
      finish(connection)
      # Once the request was sent, the failure's text may have something of it.
      detail = sent ? "no whole answer came from #{@place}" : "can't connect to #{@place}: #{e.message}"
      raise NoAnswer.new(sent, detail), cause: nil
    end

    def finish(connection)
      connection.finish if connection.started?
    rescue IOError
      nil
    end

    def kept
      connection = self.connection
      connection.keep_alive_timeout = 60
      Thread.current.thread_variable_set(@key, connection)
      connection
    end

    def connection
      connection = (@socket ? UnixConnection : Net::HTTP).new(@uri.hostname, @uri.port, nil)
      connection.max_retries = 0
      connection.path = @socket if @socket
      if @uri.scheme == "https"
        connection.use_ssl = true
        connection.ca_file = @ca_file if @ca_file
      end
      connection
    end
  end

  # HTTP over a Unix domain socket.
  class UnixConnection < Net::HTTP
    attr_writer :path

    private

    def connect
      @socket = Net::BufferedIO.new(UNIXSocket.new(@path), read_timeout: @read_timeout, write_timeout: @write_timeout)
      on_connect
    end
  end
  private_constant :UnixConnection
end
