# frozen_string_literal: true

require "json"
require "uri"
require "assay"

# Receives notifications from providers: Apple's, logout tokens and security events, all at one URL.
class Receiver
  # The block gets a notification and its events, and acts on them unless it has done so before. In one transaction: insert
  # `provider` and `id` into `notifications`; if they were there already, do nothing; otherwise act on each event.
  def initialize(assay, &once)
    @assay, @once = assay, once
  end

  # Returns the status for the response to the sender. Assay's log has the reason for a refusal.
  def receive(content_type, body)
    sent = message(content_type, body)
    return 400 unless sent

    # If the block raises, answer with 500: the sender tries again, and nothing is marked as processed.
    verified = @assay.verify_notification(**sent)
    @once.call(verified.notification, verified.events)
    200
  rescue Assay::Error => error
    # 503: the sender tries again later. 400: that would not help, because it would be refused again.
    return 503 if error.may_retry?

    [400, 404, 422].include?(error.status) ? 400 : 500
  end

  private

  # The request for Assay; nil if it is not a notification.
  def message(content_type, body)
    case content_type.split(";").first&.strip&.downcase
    when "application/x-www-form-urlencoded"
      token = URI.decode_www_form(body).to_h["logout_token"]
      token && { token: token }
    when "application/secevent+jwt"
      { token: body.strip }
    else
      { payload: JSON.parse(body) }
    end
  rescue JSON::ParserError, ArgumentError
    nil
  end
end
