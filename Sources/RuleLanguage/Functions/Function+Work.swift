import AttributeValues

/// The cost of a call, in steps of at most about 50 ns. `Function.call` charges it before the function begins.
struct Work {
    /// The cost that does not depend on the arguments.
    var base = 1
    /// Bytes of the arguments' texts that a step processes; 0 if their length does not matter.
    var bytesPerStep = 10
    /// Elements of the arguments' lists and maps that a step processes; 0 if their number does not matter.
    var elementsPerStep = 1

    /// A cost that does not depend on the arguments' sizes.
    static func constant(_ base: Int) -> Work { Work(base: base, bytesPerStep: 0, elementsPerStep: 0) }

    func countSteps(for arguments: Arguments) -> Int {
        var steps = base
        if bytesPerStep | elementsPerStep == 0 { return steps }
        for number in 0..<arguments.count {
            switch arguments[number] {
            case .string(let text): if bytesPerStep > 0 { steps += text.utf8.count / bytesPerStep }
            case .bytes(let bytes): if bytesPerStep > 0 { steps += bytes.count / bytesPerStep }
            case .list(let elements): if elementsPerStep > 0 { steps += elements.count / elementsPerStep }
            case .map(let map): if elementsPerStep > 0 { steps += map.count / elementsPerStep }
            default: break
            }
        }
        return steps
    }
}

extension Function {
    /// A function is linear in its arguments unless it is named here. A function that costs more charges the rest
    /// itself, before it does the work.
    var work: Work {
        switch self {
        case .type, .dyn, .optionalOf, .optionalNone, .optionalOfNonZeroValue, .hasValue, .value, .or, .orValue, .first,
            .last,
            .ceil, .floor, .round, .trunc, .abs, .sign, .isNaN, .isInf, .isFinite, .sqrt, .bitOr, .bitAnd, .bitXor,
            .bitNot,
            .bitShiftLeft, .bitShiftRight:
            .constant(1)
        // The length of an address's text is limited.
        case .ip, .cidr, .isIP, .isCIDR, .isCanonical, .containsIP, .containsCIDR: .constant(60)
        case .family, .isUnspecified, .isLoopback, .isGlobalUnicast, .isLinkLocalMulticast, .isLinkLocalUnicast,
            .masked, .prefixLength:
            .constant(10)
        case .tag: .constant(5)
        case .hasTag: Work(base: 5, elementsPerStep: 0)
        // Lists and maps store the number of their elements.
        case .size: Work(elementsPerStep: 0)
        case .slice: Work(elementsPerStep: 0)
        case .int, .uint, .double, .bool, .bytes: Work(base: 2, bytesPerStep: 5, elementsPerStep: 0)
        case .string: Work(base: 2, elementsPerStep: 0)
        case .timestamp, .duration: Work(base: 10, bytesPerStep: 2, elementsPerStep: 0)
        case .getFullYear, .getMonth, .getDate, .getDayOfMonth, .getDayOfWeek, .getDayOfYear, .getHours, .getMinutes,
            .getSeconds, .getMilliseconds:
            Work(base: 10, bytesPerStep: 5)
        // Looks up the properties of each code point.
        case .trim: Work(base: 2, bytesPerStep: 1)
        case .reverse, .quote, .charAt, .substring, .replace, .split: Work(base: 5, bytesPerStep: 2)
        case .indexOf, .lastIndexOf, .base64Encode, .base64Decode, .lowerAscii, .upperAscii:
            Work(base: 5, bytesPerStep: 5)
        case .join, .distinct, .sort, .setContains, .setEquivalent, .setIntersects, .flatten: Work(base: 5)
        case .format: Work(base: 20, bytesPerStep: 5)
        case .regexReplace, .regexExtract, .regexExtractAll, .matches: Work(base: 20)
        case .contains, .startsWith, .endsWith, .optionalUnwrap, .unwrapOpt, .greatest, .least, .range: Work()
        }
    }
}
