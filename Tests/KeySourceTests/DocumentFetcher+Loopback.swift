import Clocks
import KeySource
import NIOPosix

extension DocumentFetcher {
    /// A fetcher that may do what a fetch from this machine needs.
    static func onLoopback(
        proxy: ProxyEnvironment? = nil, _ change: (inout NetworkRules) -> Void = { _ in }
    ) -> DocumentFetcher {
        var rules = NetworkRules()
        rules.allowHTTP = true
        rules.allowPrivateAddresses = true
        // A busy machine is slow to connect to itself.
        rules.connectTimeout = .seconds(20)
        rules.totalTimeout = .seconds(30)
        change(&rules)
        return DocumentFetcher(
            rules: rules, proxy: proxy, loop: MultiThreadedEventLoopGroup.singleton.next(),
            resolverThreads: .singleton)
    }
}
