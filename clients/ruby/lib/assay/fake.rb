# frozen_string_literal: true

class Assay
  # A client for your own tests, whose answers the test writes. All rules of the real one apply; waiting takes no time.
  #
  #   assay = Assay::Fake.new
  #   assay.will(:finish, identity: { subject: "user-1" })
  #   assay.will_fail(:finish, 422, "token_expired")
  #   assay.will_not_answer(:finish, sent: true)
  #
  # Answers are used in their order, for each call. A call without one raises.
  class Fake < Assay
    PATHS = {
      "/v1/sign-ins" => "begin", "/v1/sign-ins/finish" => "finish", "/v1/grants/refresh" => "refresh",
      "/v1/grants/revoke" => "revoke", "/v1/verify" => "verify", "/v1/notifications/verify" => "verify_notification",
      "/v1/access-tokens/verify" => "verify_access_token", "/v1/sign-outs" => "sign_out", "/v1/grants/proof" => "proof"
    }.freeze
    private_constant :PATHS

    # Every request that would have been sent: its call and its members.
    attr_reader :requests

    # Seconds that the client would have waited before it sent a request again.
    attr_reader :waited

    def initialize(**options)
      @requests, @waited, @answers = [], 0, Hash.new { |hash, name| hash[name] = [] }
      super(**options, transport: Transport.new(self))
    end

    # `call` succeeds. The members change an example: `identity: { subject: "user-1" }` keeps its other members.
    def will(call, **members)
      name = call.to_s.delete_suffix("_code")
      status = { "begin" => 201, "begin_in_browser" => 201, "revoke" => 204 }.fetch(name, 200)
      body = name == "revoke" ? "" : JSON.generate(merged(JSON.parse(EXAMPLES)[name], JSON.parse(JSON.generate(members))))
      @answers[name] << Reply.new(status, body, nil)
    end

    # `call` fails with this problem, for example with `spent: true`.
    def will_fail(call, status, code, retry_after: nil, **members)
      problem = { status: status, code: code, detail: "scripted", request_id: "fake", **members }
      @answers[call.to_s.delete_suffix("_code")] << Reply.new(status, JSON.generate(problem), retry_after)
    end

    # The connection fails: after the request was sent, or before.
    def will_not_answer(call, sent:)
      @answers[call.to_s.delete_suffix("_code")] << NoAnswer.new(sent)
    end

    # For the client.
    def answer(path, members)
      name = PATHS.fetch(path)
      name += "_in_browser" if (name == "begin" && members["redirect_uri"]) || members["response"]
      @requests << [name, members]
      answer = @answers[name].shift or raise "no answer is left for #{name}: call will(:#{name}, …) first"
      answer.is_a?(NoAnswer) ? raise(answer) : answer
    end

    # For the client.
    def wait(seconds)
      @waited += seconds
    end

    # Its transport.
    class Transport
      def initialize(fake)
        @fake = fake
      end

      def send_request(path, body, _headers, _timeout, _once)
        @fake.answer(path, JSON.parse(body))
      end

      def now
        @fake.waited
      end

      def sleep(seconds)
        @fake.wait(seconds)
      end
    end
    private_constant :Transport

    private

    def merged(example, changes)
      return changes unless example.is_a?(Hash) && changes.is_a?(Hash)

      example.merge(changes) { |_, old, new| merged(old, new) }
    end
  end
end
