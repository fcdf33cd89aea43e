import AttributeValues
import Glibc

/// `net.IP`: an IPv4 or IPv6 address.
final class IPAddress: OpaqueValue, CustomStringConvertible {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    override var typeName: String { "net.IP" }
    override var json: Value { .string(description) }
    /// An IPv4 address is equal to its form as an IPv6 address.
    override func isEqual(to other: OpaqueValue) -> Bool {
        (other as? IPAddress).map { $0.unmapped == unmapped } ?? false
    }
    override func hash(into hasher: inout Hasher) { hasher.combine(unmapped) }

    /// The bytes of the IPv4 address if this is one as an IPv6 address (`::ffff:0:0/96`), else all bytes.
    private var unmapped: ArraySlice<UInt8> {
        let isMapped = !isV4 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isMapped ? bytes[12...] : bytes[...]
    }

    var isV4: Bool { bytes.count == 4 }

    /// Maximum bytes of an address's text, with space for mistakes.
    private static let maximumLength = 100

    convenience init(_ text: String) throws(Fault) {
        guard text.utf8.count <= IPAddress.maximumLength else {
            throw Fault("IP Address '\(CELText.brief(.string(text)))' parse error during conversion from string")
        }
        guard !text.utf8.contains(UInt8(ascii: "%")) else { throw Fault("IP Address with zone value is not allowed") }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        guard !text.utf8.contains(0), inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else {
            throw Fault("IP Address '\(CELText.brief(.string(text)))' parse error during conversion from string")
        }
        self.init(bytes: bytes)
        if isV6, text.utf8.contains(UInt8(ascii: ".")), unmapped.count == 4 {
            throw Fault("IPv4-mapped IPv6 address is not allowed")
        }
    }

    /// The canonical text (RFC 5952).
    var description: String {
        if isV4 { return bytes.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        // The longest run of two or more zero groups; the first of several equally long ones.
        var best = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(1, best.count) { best = start..<end }
            start = end + 1
        }
        func text(_ range: Range<Int>) -> String { range.map { String(groups[$0], radix: 16) }.joined(separator: ":") }
        return best.isEmpty ? text(0..<8) : "\(text(0..<best.lowerBound))::\(text(best.upperBound..<8))"
    }

    var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }
    var isLoopback: Bool { isV4 ? bytes[0] == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 } }
    var isMulticast: Bool { isV4 ? bytes[0] & 0xf0 == 0xe0 : bytes[0] == 0xff }
    var isLinkLocalMulticast: Bool {
        isV4 ? bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0 : bytes[0] == 0xff && bytes[1] & 0x0f == 2
    }
    var isLinkLocalUnicast: Bool {
        isV4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
    }
    var isGlobalUnicast: Bool {
        !(isV4 && bytes.allSatisfy { $0 == 255 }) && !isUnspecified && !isLoopback && !isMulticast
            && !isLinkLocalUnicast
    }
}

/// `net.CIDR`: an address with the length of its network part.
final class IPNetwork: OpaqueValue, CustomStringConvertible {
    let address: IPAddress
    let prefixLength: Int

    private static let maximumLength = 110

    init(address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }

    override var typeName: String { "net.CIDR" }
    override var json: Value { .string(description) }
    override func isEqual(to other: OpaqueValue) -> Bool {
        guard let other = other as? IPNetwork else { return false }
        return other.address.bytes == address.bytes && other.prefixLength == prefixLength
    }
    override func hash(into hasher: inout Hasher) {
        hasher.combine(address.bytes)
        hasher.combine(prefixLength)
    }

    convenience init(_ text: String) throws(Fault) {
        let fault = Fault("network address '\(CELText.brief(.string(text)))' parse error during conversion from string")
        guard text.utf8.count <= IPNetwork.maximumLength else { throw fault }
        guard !text.utf8.contains(UInt8(ascii: "%")) else { throw Fault("CIDR with zone value is not allowed") }
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { throw fault }
        let digits = text.utf8[text.utf8.index(after: slash)...]
        guard (1...3).contains(digits.count), digits.allSatisfy(\.isDigit), digits.count == 1 || digits.first != 48,
            let length = Int(String(Substring(digits)))
        else { throw fault }
        let address = try IPAddress(String(text[..<slash]))
        guard length <= address.bytes.count * 8 else { throw fault }
        self.init(address: address, prefixLength: length)
    }

    var description: String { "\(address)/\(prefixLength)" }

    var masked: IPNetwork {
        IPNetwork(address: IPAddress(bytes: IPNetwork.mask(address.bytes, prefixLength)), prefixLength: prefixLength)
    }

    private static func mask(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { at, byte in
            let kept = min(8, max(0, length - at * 8))
            return byte & UInt8(truncatingIfNeeded: 0xff00 >> kept)
        }
    }

    func includes(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count
            && IPNetwork.mask(other.bytes, prefixLength) == IPNetwork.mask(address.bytes, prefixLength)
    }

    func includes(_ other: IPNetwork) -> Bool { other.prefixLength >= prefixLength && includes(other.address) }
}
