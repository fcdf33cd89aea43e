import AttributeValues

/// `ip`, `cidr` and their member functions.
enum NetworkLibrary {
    static func call(_ function: Function, _ a: Arguments, _ isMember: Bool) throws(Fault) -> Value? {
        guard a.count > 0 else { return nil }
        if !isMember { return a.count == 1 ? try global(function, a.text(0)) : nil }
        guard case .opaque(let receiver) = a[0] else { return nil }
        if let address = receiver as? IPAddress { return a.count == 1 ? member(function, address) : nil }
        guard let network = receiver as? IPNetwork else { return nil }
        switch (function, a.count) {
        case (.ip, 1): return .opaque(network.address)
        case (.masked, 1): return .opaque(network.masked)
        case (.prefixLength, 1): return .int(Int64(network.prefixLength))
        case (.containsIP, 2):
            switch a[1] {
            case .string(let text): return .bool(network.includes(try IPAddress(text)))
            case .opaque(let address as IPAddress): return .bool(network.includes(address))
            default: return nil
            }
        case (.containsCIDR, 2):
            switch a[1] {
            case .string(let text): return .bool(network.includes(try IPNetwork(text)))
            case .opaque(let other as IPNetwork): return .bool(network.includes(other))
            default: return nil
            }
        default: return nil
        }
    }

    private static func global(_ function: Function, _ text: String?) throws(Fault) -> Value? {
        guard let text else { return nil }
        switch function {
        case .ip: return .opaque(try IPAddress(text))
        case .cidr: return .opaque(try IPNetwork(text))
        case .isIP: return .bool((try? IPAddress(text)) != nil)
        case .isCIDR: return .bool((try? IPNetwork(text)) != nil)
        case .isCanonical: return .bool(try IPAddress(text).description == text)
        default: return nil
        }
    }

    private static func member(_ function: Function, _ address: IPAddress) -> Value? {
        switch function {
        case .family: .int(address.isV4 ? 4 : 6)
        case .isUnspecified: .bool(address.isUnspecified)
        case .isLoopback: .bool(address.isLoopback)
        case .isGlobalUnicast: .bool(address.isGlobalUnicast)
        case .isLinkLocalMulticast: .bool(address.isLinkLocalMulticast)
        case .isLinkLocalUnicast: .bool(address.isLinkLocalUnicast)
        default: nil
        }
    }
}
