import AttributeValues
import GraphRuntime
import WireProtocol

extension AccessRule {
    /// Reads `RIGHT WHO PATTERN`, as in `write user:alice,group:ops /hosts/**`.
    /// - Throws: `invalid` with the expected form.
    init(_ text: String, _ accounts: Accounts) throws(Failure) {
        var rest = Substring(text)
        let right = try AccessRule.right(rest.takeWord())
        let names = rest.takeWord().split(separator: ",", omittingEmptySubsequences: false)
        let subjects = try names.map { (name) throws(Failure) in try AccessRule.subject(String(name), accounts) }
        self.init(right, subjects, try AccessRule.pattern(rest.trimmed, right))
    }

    private static let form = "a line is access = RIGHT WHO PATTERN, as write user:alice,group:ops /hosts/**"

    private static func right(_ word: String) throws(Failure) -> AccessRight {
        if let right = AccessRight(rawValue: word) { return right }
        let words = AccessRight.allCases.map(\.rawValue)
        throw Failure(
            .invalid,
            "access: there is no right \"\(word)\"",
            hint: NearestName.hint(word, among: words)
                ?? "the rights are \(words.joined(separator: ", ")); each includes those before it")
    }

    private static func subject(_ text: String, _ accounts: Accounts) throws(Failure) -> Subject {
        if text == "everyone" { return .everyone }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["user", "group", "as"].contains(parts[0]) else {
            throw Failure(
                .invalid, "access is for everyone, user:NAME, group:NAME or as:NAME, not \"\(text)\"", hint: form)
        }
        if parts[0] == "as" {
            do throws(Failure) { try PrincipalName.check(parts[1]) } catch {
                throw Failure(.invalid, "access: \(error.message)", hint: error.hint)
            }
            return .principal(parts[1])
        }
        let find = parts[0] == "user" ? accounts.user : accounts.group
        guard let number = UInt32(parts[1]) ?? find(parts[1]) else {
            throw Failure(
                .invalid, "access: there is no \(parts[0]) \(parts[1])", hint: "create it, or write its number")
        }
        return parts[0] == "user" ? .user(number) : .group(number)
    }

    /// Does not apply `path-length`, which limits the paths of clients: its line may follow this one in the file.
    private static func pattern(_ text: String, _ right: AccessRight) throws(Failure) -> PathPattern {
        guard !text.isEmpty else { throw Failure(.invalid, "access: a pattern is missing", hint: form) }
        let pattern: PathPattern
        do throws(Failure) { pattern = try PathPattern(text, maximumLength: .max) } catch {
            throw Failure(.invalid, "access: \(error.message)", hint: error.hint)
        }
        guard pattern.steps.isEmpty else {
            throw Failure(.invalid, "access: \(text) names a part of a value; write the path of the attribute")
        }
        guard right != .admin || pattern.covers(.everything) else {
            throw Failure(.invalid, "access: admin concerns the daemon as a whole, so its pattern is /**, not \(text)")
        }
        return pattern
    }
}

extension Substring {
    /// Removes the next word, up to a space or tab, and returns it.
    fileprivate mutating func takeWord() -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        self = drop(while: isBlank)
        let word = prefix { !isBlank($0) }
        self = self[word.endIndex...]
        return String(word)
    }
}
