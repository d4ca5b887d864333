# frozen_string_literal: true

# Posts notifications to docs/clients/ruby/receiver.rb: reads them as JSON, one per line, and writes what it did.

require "assay"
require "json"
require_relative "../../../../docs/clients/ruby/receiver"

$stdout.sync = true
ASSAY = Assay.new(ENV.fetch("ASSAY_URL"), api_key: ENV["ASSAY_API_KEY"], retry_for: 0)

# Stands in for the database.
KNOWN, DONE = {}, []
RECEIVER = Receiver.new(ASSAY) do |notification, events|
  key = [notification.provider, notification.id]
  DONE.concat(events.map(&:type)) unless KNOWN[key]
  KNOWN[key] = true
end

$stdin.each_line do |line|
  DONE.clear
  sent = JSON.parse(line).fetch("receive")
  puts JSON.generate(answered: RECEIVER.receive(sent["content_type"], sent["body"]), done: DONE)
end
