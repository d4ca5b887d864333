import IDToken
import JOSE
@testable import Service
import Testing
import TestSupport

/// A token's provider is found by its issuer, even if issuers differ by tenant.
@Suite struct TenantTests {
    private func token(_ tenant: String, issuer: String) -> String {
        ServiceFixture.token(ServiceFixture.claims.with("iss", "\"\(issuer)\"").with("tid", "\"\(tenant)\""))
    }

    private static func differByTenant(_ tenants: TenantRule) -> (inout ProviderPolicy) -> Void {
        { policy in
            policy.issuer = "https://issuer.example/{tid}/v2.0"
            policy.tenants = tenants
        }
    }

    @Test(arguments: [TenantRule.any(except: ["three"]), .only(["one", "two"])])
    func `a token of a tenant that is accepted finds its provider`(tenants: TenantRule) async throws {
        try await ServiceFixture.run(policy: Self.differByTenant(tenants)) { service async throws in
            try await service.fetchKeys()
            for tenant in ["one", "two"] {
                let issuer = "https://issuer.example/\(tenant)/v2.0"
                let identity = try await service.verify(token(tenant, issuer: issuer)).json["identity"]?.object
                #expect(identity?["issuer"] == .string(issuer))
                #expect(identity?["tenant"] == .string(tenant))
            }
        }
    }

    @Test(arguments: [TenantRule.any(except: ["three"]), .only(["one", "two"])])
    func `a token of another tenant matches no provider`(
        tenants: TenantRule
    ) async throws {
        try await ServiceFixture.run(policy: Self.differByTenant(tenants)) { service async throws in
            try await service.fetchKeys()
            let other = token("three", issuer: "https://issuer.example/three/v2.0")
            #expect(try await service.verify(other).code == "provider_unknown")
            #expect(try await service.verify(other, #","provider":"p""#).code == "issuer_mismatch")
            let template = token("{tid}", issuer: "https://issuer.example/{tid}/v2.0")
            #expect(try await service.verify(template).code == "provider_unknown")
            #expect(try await service.verify(template, #","provider":"p""#).code == "issuer_mismatch")
            let unbound = token("two", issuer: "https://issuer.example/one/v2.0")
            #expect(try await service.verify(unbound).code == "issuer_mismatch")
        }
    }
}
