# frozen_string_literal: true

class Assay
  # The answer lacks a member, or one has another type.
  class NotAssays < StandardError; end
  private_constant :NotAssays

  # Reads answers. Unknown members are ignored, so that a newer Assay can add some.
  module Model
    # `kinds`: the type of each member, with a `?` if it may be nil. `secrets` are never printed.
    def describe(kinds, secrets)
      @kinds, @secrets = kinds, secrets
    end

    attr_reader :secrets

    def of(members)
      raise NotAssays unless members.is_a?(Hash)

      new(**@kinds.to_h { |name, kind| [name, value(members[name.to_s], kind)] }).freeze
    end

    private

    def value(value, described)
      kind = described.delete_suffix("?")
      return nil if value.nil? && kind != described

      case kind
      when "string" then checked(value, String)
      when "integer" then checked(value, Integer)
      when "object" then checked(value, Hash)
      when "boolean" then [true, false].include?(value) ? value : raise(NotAssays)
      when "texts" then checked(value, Hash).each_value { |each| checked(each, String) }
      when "strings" then checked(value, Array).each { |each| checked(each, String) }
      when /\A\[(\w+)\]\z/ then checked(value, Array).map { |each| Assay.const_get(Regexp.last_match(1)).of(each) }
      else Assay.const_get(kind).of(value)
      end
    end

    def checked(value, type)
      value.is_a?(type) ? value : raise(NotAssays)
    end
  end
  private_constant :Model

  # Prints no secrets.
  module Printed
    def inspect
      shown = to_h.except(*self.class.secrets)
      "#<#{self.class} #{shown.map { |name, value| "#{name}=#{value.inspect}" }.join(", ")}>"
    end

    alias to_s inspect
  end
  private_constant :Printed
end
