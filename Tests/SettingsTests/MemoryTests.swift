import HTTP
import Settings
import Testing

@Suite struct MemoryTests {
    private static let mebibyte = 1 << 20

    private func limits(_ yaml: String = "", memory: Int?) throws -> Settings.Limits {
        try Settings(yaml: yaml + provider, memory: memory).limits
    }

    @Test func `without a limit of memory the defaults are what they are`() throws {
        #expect(try limits(memory: nil) == Settings().limits)
        #expect(try limits(memory: 4096 * Self.mebibyte) == Settings().limits)
    }

    @Test(arguments: [
        // MiB of memory, connections, waiting requests, MiB buffered.
        (64, 731, 731, 4), (128, 2779, 1024, 17), (256, 6875, 1024, 32), (384, 10_000, 1024, 32), (8, 64, 64, 1),
    ]) func `less memory holds less`(memory: Int, connections: Int, inFlight: Int, buffered: Int) throws {
        let limits = try limits(memory: memory * Self.mebibyte)
        #expect(limits.listener.maximumConnections == connections)
        #expect(limits.listener.maximumInFlight == inFlight)
        #expect(limits.listener.maximumBuffered / Self.mebibyte == buffered)
    }

    @Test func `what clients can have held fits beside what the process takes`() {
        for memory in stride(from: 48, through: 512, by: 16) {
            for isEncrypted in [false, true] {
                let budget = MemoryBudget(
                    bytes: memory * Self.mebibyte, isEncrypted: isEncrypted, rememberedTokens: 0, providers: 0)
                let held =
                    budget.limits.maximumConnections * (isEncrypted ? 80 : 16) * 1024 + budget.limits.maximumBuffered
                    / 8 * 13
                    + budget.limits.maximumInFlight * 4 * 1024
                #expect(held <= (memory - 36) * Self.mebibyte, "\(memory)")
            }
        }
    }

    @Test(arguments: [
        ("", 64, 16_400), ("limits: { max_connections: 1000 }\n", 128, 45_543),
        ("limits: { max_connections: 100 }\n", 64, 65_536), ("limits: { max_connections: 100000 }\n", 64, 8192),
    ]) func `the fewer connections, the larger their buffers`(yaml: String, memory: Int, bytes: Int) throws {
        #expect(try limits(yaml, memory: memory * Self.mebibyte).listener.socketBuffer == bytes)
    }

    @Test func `providers, remembered tokens and TLS leave less`() {
        func connections(isEncrypted: Bool = false, rememberedTokens: Int = 0, providers: Int = 0) -> Int {
            MemoryBudget(
                bytes: 64 * Self.mebibyte, isEncrypted: isEncrypted, rememberedTokens: rememberedTokens,
                providers: providers
            ).limits.maximumConnections
        }
        #expect(connections() == 896)
        #expect(connections(isEncrypted: true) == 179)
        #expect(connections(rememberedTokens: 10_000) < 896)
        #expect(connections(providers: 4) == 864)
    }

    @Test func `what is set stays, and the rest follows`() throws {
        let limits = try limits(
            "limits: { max_connections: 5000, max_buffered: 32MiB }\n", memory: 64 * Self.mebibyte)
        #expect(limits.listener.maximumConnections == 5000)
        #expect(limits.listener.maximumBuffered == 32 * Self.mebibyte)
        #expect(limits.listener.maximumInFlight == 731)
    }

    @Test func `limits that follow from the memory are shown with where they come from`() throws {
        let yaml = "limits: { max_in_flight: 7 }\n" + provider
        let shown = try Settings.read(yaml: yaml, memory: 64 * Self.mebibyte).effective.yaml()
            .split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let origin = "# default under the memory limit of 64MiB"
        let limits = try limits("limits: { max_in_flight: 7 }\n", memory: 64 * Self.mebibyte)
        #expect(shown.contains("max_connections: \(limits.listener.maximumConnections) \(origin)"))
        #expect(shown.contains("max_buffered: \(limits.listener.maximumBuffered)B \(origin)"))
        #expect(shown.contains("max_in_flight: 7 # line 1"))
        // With enough memory, the usual defaults apply.
        let enough = try Settings.read(yaml: provider, memory: 1024 * Self.mebibyte).effective.yaml()
        #expect(!enough.contains("memory limit"))
    }

    @Test func `a provider that is added under a memory limit needs no restart`() throws {
        let other = "  - { id: other, issuer: \"https://op.example\", audiences: [a] }\n"
        func read(_ yaml: String) throws -> Settings { try Settings(yaml: yaml, memory: 64 * Self.mebibyte) }
        let running = try read(provider)
        var changed = try read(provider + other)
        #expect(changed.limits.listener.maximumConnections < running.limits.listener.maximumConnections)
        changed.keepDerivedLimits(of: running)
        #expect(changed.changes(from: running) == ["providers.other (new)"])
        // A limit that is no longer set has changed.
        let set = try read("limits: { max_connections: 100 }\n" + provider)
        changed.keepDerivedLimits(of: set)
        #expect(changed.changesThatNeedRestart(from: set) == ["limits.max_connections"])
    }

    // MARK: Control groups

    private func read(_ files: [String: String]) -> Int? { MemoryLimit.read { files[$0] } }

    @Test func `the least limit on the way to the root counts, in version 2`() {
        let files = [
            "/proc/self/cgroup": "0::/a.slice/b.service\n",
            "/sys/fs/cgroup/a.slice/b.service/memory.max": "max\n",
            "/sys/fs/cgroup/a.slice/memory.max": "67108864\n",
        ]
        #expect(read(files) == 64 << 20)
        #expect(read(files.merging(["/sys/fs/cgroup/a.slice/b.service/memory.max": "1048576\n"]) { $1 }) == 1 << 20)
        #expect(read(files.filter { !$0.key.contains("a.slice/memory") }) == nil)
    }

    @Test func `in version 1 no limit is a number as well`() {
        let groups = "9:name=systemd:/\n4:cpu,memory:/docker/1:2\n0::/\n"
        #expect(
            read([
                "/proc/self/cgroup": groups,
                "/sys/fs/cgroup/memory/docker/1:2/memory.limit_in_bytes": "9223372036854771712\n",
            ]) == nil)
        // In a container, the group itself may be mounted instead of the whole hierarchy.
        #expect(
            read([
                "/proc/self/cgroup": groups, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
            ]) == 128 << 20)
    }

    @Test func `where there are no control groups there is no limit`() {
        #expect(read([:]) == nil)
        #expect(read(["/proc/self/cgroup": "nonsense\n0::/\n"]) == nil)
    }
}
