# frozen_string_literal: true

class Assay
  # A call that failed. Its text is for the log: it has no token, no handle and no nonce.
  #
  # If it is neither Refused nor Unavailable, the caller, the settings or the provider is at fault: raise an alert.
  class Error < StandardError
    # - status: the HTTP status; 0 if there was no answer
    # - code: one of Assay::Code; nil if there was no answer, or if it was not Assay's
    # - detail: for people; it may change
    # - spent: whether the sign-in, code, token, nonce or proof is, or may be, used up: never send it again
    # - retry_after: seconds before the same request may succeed
    # - claim: the claim that is missing or invalid
    # - provider_error: the provider's error code
    # - context: the begin call's, if the user or the provider ended the sign-in: don't log it
    # - challenge: how to answer the client that sent an access token; only for a call with `resource`
    # - dpop_nonce: what the next proof of this client must have, as DPoP-Nonce of your response
    # - members: the whole problem, for members that this version does not know
    attr_reader :status, :code, :detail, :request_id, :spent, :retry_after, :claim, :provider_error, :context, :challenge,
                :dpop_nonce, :members

    def self.of(status, **members)
      # A refusal without a code is not Assay's.
      kind = { 422 => members[:code] ? Refused : Error, 503 => Unavailable, 0 => Unavailable }.fetch(status, Error)
      kind.new(status, **members)
    end

    def initialize(status, code: nil, detail: nil, request_id: nil, spent: false, retry_after: nil, claim: nil,
                   provider_error: nil, context: nil, challenge: nil, dpop_nonce: nil, members: {})
      @status, @code, @detail, @request_id, @spent = status, code, detail, request_id, spent
      @retry_after, @claim, @provider_error, @context, @members = retry_after, claim, provider_error, context, members
      @challenge, @dpop_nonce = challenge, dpop_nonce
      super(text)
    end

    # Whether the same request may be sent again, after `retry_after` seconds. The client did so, for as long as it may.
    def may_retry?
      !spent && [0, 503].include?(status)
    end

    private

    def text
      return "Assay did not answer#{", but may have got the request" if spent}#{": #{detail}" if detail}" if status.zero?
      return "The answer with status #{status} is not one of Assay's" unless code

      "Assay answered #{status} #{code}: #{detail} (request #{request_id})"
    end
  end

  # Sign nobody in (`status` 422): the same request will be refused again. Show users one message for all codes.
  class Refused < Error; end

  # Nobody can decide now (`status` 503, or 0 without an answer). Unless `spent`, the same request may succeed later.
  class Unavailable < Error; end
end
