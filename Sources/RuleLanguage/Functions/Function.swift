/// The functions that rules can call. The raw value is the name in a rule. Namespaced names are global functions.
enum Function: String, CaseIterable, Sendable {
    // Core
    case size, type, dyn, contains, startsWith, endsWith, matches
    case int, uint, double, bool, string, bytes, timestamp, duration
    case getFullYear, getMonth, getDate, getDayOfMonth, getDayOfWeek, getDayOfYear
    case getHours, getMinutes, getSeconds, getMilliseconds
    // Optionals
    case optionalOf = "optional.of"
    case optionalNone = "optional.none"
    case optionalOfNonZeroValue = "optional.ofNonZeroValue"
    case optionalUnwrap = "optional.unwrap"
    case hasValue, value, or, orValue, unwrapOpt, first, last
    // Strings
    case charAt, indexOf, lastIndexOf, join, lowerAscii, upperAscii, replace, split, substring, trim, reverse, format
    case quote = "strings.quote"
    // Math
    case greatest = "math.greatest"
    case least = "math.least"
    case ceil = "math.ceil"
    case floor = "math.floor"
    case round = "math.round"
    case trunc = "math.trunc"
    case abs = "math.abs"
    case sign = "math.sign"
    case isNaN = "math.isNaN"
    case isInf = "math.isInf"
    case isFinite = "math.isFinite"
    case sqrt = "math.sqrt"
    case bitOr = "math.bitOr"
    case bitAnd = "math.bitAnd"
    case bitXor = "math.bitXor"
    case bitNot = "math.bitNot"
    case bitShiftLeft = "math.bitShiftLeft"
    case bitShiftRight = "math.bitShiftRight"
    // Lists and sets
    case slice, flatten, distinct, sort
    case range = "lists.range"
    case setContains = "sets.contains"
    case setEquivalent = "sets.equivalent"
    case setIntersects = "sets.intersects"
    // Encoders
    case base64Encode = "base64.encode"
    case base64Decode = "base64.decode"
    // Regular expressions
    case regexReplace = "regex.replace"
    case regexExtract = "regex.extract"
    case regexExtractAll = "regex.extractAll"
    // Network
    case ip, cidr, isIP, isCIDR
    case isCanonical = "ip.isCanonical"
    case family, isUnspecified, isLoopback, isGlobalUnicast, isLinkLocalMulticast, isLinkLocalUnicast
    case containsIP, containsCIDR, masked, prefixLength
    // Subviews
    case hasTag, tag
}
