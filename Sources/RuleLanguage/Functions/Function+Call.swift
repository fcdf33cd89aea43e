import AttributeValues

extension Function {
    /// Evaluates a call on any arguments. Arguments that fit no overload are a fault.
    func call(_ arguments: Arguments, isMember: Bool, _ meter: inout Meter) throws(Fault) -> Value {
        try meter.charge(work.countSteps(for: arguments))
        guard let value = try dispatch(arguments, isMember, &meter) else { throw arguments.noSuchOverload(rawValue) }
        return value
    }

    /// nil if the arguments fit no overload. Each library checks number, types and style of its arguments.
    private func dispatch(_ a: Arguments, _ isMember: Bool, _ meter: inout Meter) throws(Fault) -> Value? {
        switch self {
        case .size: return a.count == 1 ? size(a[0]) : nil
        case .type: return a.count == 1 && !isMember ? .type(a[0].typeName) : nil
        case .dyn: return a.count == 1 && !isMember ? a[0] : nil
        case .contains, .startsWith, .endsWith:
            guard isMember, a.count == 2, let text = a.text(0), let part = a.text(1) else { return nil }
            return .bool(
                StringLibrary.search(
                    self == .contains ? .contains : self == .startsWith ? .startsWith : .endsWith, text, part))
        case .matches: return try RegexLibrary.matches(a, &meter)
        case .int, .uint, .double, .bool, .string, .bytes, .timestamp, .duration:
            return a.count == 1 && !isMember ? try Conversions.convert(self, a[0], &meter) : nil
        case .getFullYear, .getMonth, .getDate, .getDayOfMonth, .getDayOfWeek, .getDayOfYear, .getHours, .getMinutes,
            .getSeconds, .getMilliseconds:
            return isMember ? try TimeLibrary.get(self, a, &meter) : nil
        case .optionalOf, .optionalNone, .optionalOfNonZeroValue, .optionalUnwrap, .hasValue, .value, .or, .orValue,
            .unwrapOpt, .first, .last:
            return try OptionalLibrary.call(self, a, isMember, &meter)
        case .reverse where a.count == 1 && a.elements(0) != nil:
            return isMember ? try ListLibrary.call(self, a, &meter) : nil
        case .charAt, .indexOf, .lastIndexOf, .join, .lowerAscii, .upperAscii, .replace, .split, .substring, .trim,
            .reverse:
            return isMember ? try StringLibrary.call(self, a, &meter) : nil
        case .format: return isMember ? try StringFormat.formatText(a, &meter) : nil
        case .quote: return try StringLibrary.quoteText(a, &meter)
        case .greatest, .least, .ceil, .floor, .round, .trunc, .abs, .sign, .isNaN, .isInf, .isFinite, .sqrt, .bitOr,
            .bitAnd, .bitXor, .bitNot, .bitShiftLeft, .bitShiftRight:
            return try MathLibrary.call(self, a)
        case .slice, .flatten, .distinct, .sort: return isMember ? try ListLibrary.call(self, a, &meter) : nil
        case .range: return try ListLibrary.makeRange(a, &meter)
        case .setContains, .setEquivalent, .setIntersects: return try SetLibrary.call(self, a, &meter)
        case .base64Encode, .base64Decode: return try EncoderLibrary.call(self, a, &meter)
        case .regexReplace, .regexExtract, .regexExtractAll: return try RegexLibrary.call(self, a, &meter)
        case .ip, .cidr, .isIP, .isCIDR, .isCanonical, .family, .isUnspecified, .isLoopback, .isGlobalUnicast,
            .isLinkLocalMulticast, .isLinkLocalUnicast, .containsIP, .containsCIDR, .masked, .prefixLength:
            return try NetworkLibrary.call(self, a, isMember)
        case .hasTag, .tag: return isMember ? try subviewTag(a, &meter) : nil
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
        switch (self, a.count) {
        case (.tag, 1): return tags.first ?? .null
        case (.tag, 2):
            guard case .type(let name) = a[1] else { return nil }
            try meter.charge(tags.count)
            return tags.first { $0.typeName == name } ?? .null
        case (.hasTag, 2):
            for tag in tags {
                try meter.chargeAll(of: a[1])
                if tag == a[1] { return .bool(true) }
            }
            return .bool(false)
        default: return nil
        }
    }
}
