import AttributeValues

extension FunctionList {
    mutating func defineNetwork() {
        // The length of an address's text is limited.
        let (parsing, property) = (Work.constant(60), Work.constant(10))
        define("ip(string) -> ip", "cidr::ip() -> ip", work: parsing) { (a, _) throws(Fault) in
            if let network = IPNetwork.read(a[0]) { return .opaque(network.address) }
            guard let text = a.text(0) else { return nil }
            return .opaque(try IPAddress(text))
        }
        define("cidr(string) -> cidr", work: parsing) { (text: String) throws(Fault) in .opaque(try IPNetwork(text)) }
        define("isIP(string) -> bool", work: parsing) { (text: String) in .bool((try? IPAddress(text)) != nil) }
        define("isCIDR(string) -> bool", work: parsing) { (text: String) in .bool((try? IPNetwork(text)) != nil) }
        define("ip.isCanonical(string) -> bool", work: parsing) { (text: String) throws(Fault) in
            .bool(try IPAddress(text).description == text)
        }
        define("ip::family() -> int", work: property) { (ip: IPAddress) in .int(ip.isV4 ? 4 : 6) }
        define("ip::isUnspecified() -> bool", work: property) { (ip: IPAddress) in .bool(ip.isUnspecified) }
        define("ip::isLoopback() -> bool", work: property) { (ip: IPAddress) in .bool(ip.isLoopback) }
        define("ip::isGlobalUnicast() -> bool", work: property) { (ip: IPAddress) in .bool(ip.isGlobalUnicast) }
        define("ip::isLinkLocalMulticast() -> bool", work: property) { (ip: IPAddress) in
            .bool(ip.isLinkLocalMulticast)
        }
        define("ip::isLinkLocalUnicast() -> bool", work: property) { (ip: IPAddress) in .bool(ip.isLinkLocalUnicast) }
        define("cidr::containsIP(ip|string) -> bool", work: parsing) { (network: IPNetwork, ip: Value) throws(Fault) in
            try IPAddress.parse(ip).map { .bool(network.includes($0)) }
        }
        define("cidr::containsCIDR(cidr|string) -> bool", work: parsing) {
            (network: IPNetwork, other: Value) throws(Fault) in
            try IPNetwork.parse(other).map { .bool(network.includes($0)) }
        }
        define("cidr::masked() -> cidr", work: property) { (network: IPNetwork) in .opaque(network.masked) }
        define("cidr::prefixLength() -> int", work: property) { (network: IPNetwork) in
            .int(Int64(network.prefixLength))
        }
    }
}

extension IPAddress: FunctionArgument {
    static func read(_ value: Value) -> IPAddress? {
        if case .opaque(let address as IPAddress) = value { address } else { nil }
    }

    /// An address or its text.
    fileprivate static func parse(_ value: Value) throws(Fault) -> IPAddress? {
        if case .string(let text) = value { try IPAddress(text) } else { read(value) }
    }
}

extension IPNetwork: FunctionArgument {
    static func read(_ value: Value) -> IPNetwork? {
        if case .opaque(let network as IPNetwork) = value { network } else { nil }
    }

    /// A network or its text.
    fileprivate static func parse(_ value: Value) throws(Fault) -> IPNetwork? {
        if case .string(let text) = value { try IPNetwork(text) } else { read(value) }
    }
}
