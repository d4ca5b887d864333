# frozen_string_literal: true

Gem::Specification.new do |gem|
  gem.name = "assay-client"
  gem.version = "0.1.0"
  gem.summary = "Verifies ID Tokens and finishes sign-ins with Assay"
  gem.authors = ["The Assay authors"]
  gem.license = "Apache-2.0"
  gem.required_ruby_version = ">= 3.1"
  gem.files = Dir["lib/**/*.rb"].sort + %w[README.md LICENSE]
  gem.metadata = { "rubygems_mfa_required" => "true" }
end
