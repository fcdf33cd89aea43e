import AttributeValues

extension Function {
    /// Evaluates a call, whose number of arguments fits an overload. If their types fit none, that is a fault.
    func call(_ arguments: Arguments, _ meter: inout Meter) throws(Fault) -> Value {
        try meter.charge(work.countSteps(for: arguments))
        guard let value = try dispatch(arguments, &meter) else { throw arguments.noSuchOverload(rawValue) }
        return value
    }

    /// nil if the arguments fit no overload. Each library checks their types.
    private func dispatch(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        switch self {
        case .size: return size(a[0])
        case .type: return .type(a[0].typeName)
        case .dyn: return a[0]
        case .contains, .startsWith, .endsWith:
            guard let text = a.text(0), let part = a.text(1) else { return nil }
            return .bool(
                StringLibrary.search(
                    self == .contains ? .contains : self == .startsWith ? .startsWith : .endsWith, text, part))
        case .int, .uint, .double, .bool, .string, .bytes, .timestamp, .duration:
            return try Conversions.convert(self, a[0], &meter)
        case .getFullYear, .getMonth, .getDate, .getDayOfMonth, .getDayOfWeek, .getDayOfYear, .getHours, .getMinutes,
            .getSeconds, .getMilliseconds:
            return try TimeLibrary.get(self, a, &meter)
        case .optionalOf, .optionalNone, .optionalOfNonZeroValue, .optionalUnwrap, .hasValue, .value, .or, .orValue,
            .unwrapOpt, .first, .last:
            return try OptionalLibrary.call(self, a)
        case .charAt, .indexOf, .lastIndexOf, .lowerAscii, .upperAscii, .replace, .split, .substring, .trim:
            return try StringLibrary.call(self, a, &meter)
        case .reverse:
            if let text = a.text(0) { return StringLibrary.reverse(text) }
            return try ListLibrary.call(self, a, &meter)
        case .join: return try StringLibrary.join(a, &meter)
        case .format: return try StringFormat.formatText(a, &meter)
        case .quote: return try StringLibrary.quoteText(a, &meter)
        case .greatest, .least, .ceil, .floor, .round, .trunc, .abs, .sign, .isNaN, .isInf, .isFinite, .sqrt, .bitOr,
            .bitAnd, .bitXor, .bitNot, .bitShiftLeft, .bitShiftRight:
            return try MathLibrary.call(self, a)
        case .slice, .flatten, .distinct, .sort: return try ListLibrary.call(self, a, &meter)
        case .range: return try ListLibrary.makeRange(a, &meter)
        case .setContains, .setEquivalent, .setIntersects: return try SetLibrary.call(self, a, &meter)
        case .base64Encode, .base64Decode: return try EncoderLibrary.call(self, a, &meter)
        case .matches, .regexReplace, .regexExtract, .regexExtractAll: return try RegexLibrary.call(self, a, &meter)
        case .ip, .cidr, .isIP, .isCIDR, .isCanonical, .family, .isUnspecified, .isLoopback, .isGlobalUnicast,
            .isLinkLocalMulticast, .isLinkLocalUnicast, .containsIP, .containsCIDR, .masked, .prefixLength:
            return try NetworkLibrary.call(self, a)
        case .hasTag, .tag: return try subviewTag(a, &meter)
        }
    }

    private func size(_ value: Value) -> Value? {
        switch value {
        case .string(let text): .int(Int64(text.scalarCount))
        case .bytes(let bytes): .int(Int64(bytes.count))
        case .list(let elements): .int(Int64(elements.count))
        case .map(let map): .int(Int64(map.count))
        case .opaque(let opaque): (opaque as? VectorValue).map { .int(Int64($0.components.count)) }
        default: nil
        }
    }

    /// For a subview, a map `{id, index, tag, containerValues}`: tags must agree in type and value. A list is several
    /// tags.
    private func subviewTag(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard case .map(let subview) = a[0] else { return nil }
        let tags = subview["tag"].map { $0.list ?? [$0] } ?? []
        if self == .hasTag {
            for tag in tags {
                try meter.chargeAll(of: a[1])
                if tag == a[1] { return .bool(true) }
            }
            return .bool(false)
        }
        if a.count == 1 { return tags.first ?? .null }
        guard case .type(let name) = a[1] else { return nil }
        try meter.charge(tags.count)
        return tags.first { $0.typeName == name } ?? .null
    }
}
