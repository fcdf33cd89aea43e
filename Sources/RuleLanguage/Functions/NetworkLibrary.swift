import AttributeValues

/// `ip`, `cidr` and their member functions.
enum NetworkLibrary {
    static func call(_ function: Function, _ a: Arguments) throws(Fault) -> Value? {
        switch a[0] {
        case .string(let text): return try read(function, text)
        case .opaque(let address as IPAddress): return member(function, address)
        case .opaque(let network as IPNetwork): return try member(function, network, a)
        default: return nil
        }
    }

    private static func read(_ function: Function, _ text: String) throws(Fault) -> Value? {
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
    private static func member(_ function: Function, _ network: IPNetwork, _ a: Arguments) throws(Fault) -> Value? {
        switch function {
        case .ip: return .opaque(network.address)
        case .masked: return .opaque(network.masked)
        case .prefixLength: return .int(Int64(network.prefixLength))
        case .containsIP:
            switch a[1] {
            case .string(let text): return .bool(network.includes(try IPAddress(text)))
            case .opaque(let address as IPAddress): return .bool(network.includes(address))
            default: return nil
            }
        case .containsCIDR:
            switch a[1] {
            case .string(let text): return .bool(network.includes(try IPNetwork(text)))
            case .opaque(let other as IPNetwork): return .bool(network.includes(other))
            default: return nil
            }
        default: return nil
        }
    }
}
