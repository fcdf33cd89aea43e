import AttributeValues
import GraphRuntime
import SceneModel
import ViewGraph
import WireProtocol

/// Runs the tests of a file. Each test has a world of its own.
package struct SceneTestRun {
    /// An expectation that does not hold, or a step that was refused.
    package struct Mismatch {
        package var position: SourcePosition
        package var message: String
        /// For people: JSON, a rule, or words.
        package var expected: String?
        package var seen: String?
        /// Why the attribute has this value.
        package var explanation: [(name: String, value: Value)] = []
        package var hint: String?

        init(
            _ position: SourcePosition, _ message: String, expected: String? = nil, seen: String? = nil,
            hint: String? = nil
        ) {
            self.position = position
            self.message = message
            self.expected = expected
            self.seen = seen
            self.hint = hint
        }

        init(_ position: SourcePosition, _ what: String, _ failure: Failure) {
            self.init(position, "\(what): \(failure.message)", hint: failure.hint)
        }
    }

    package let file: SceneTestFile
    private let scenes: [(file: String, text: String)]
    private let read: (String) throws -> String

    /// Reads the scenes, and loads them once.
    /// - Parameter read: reads a file.
    /// - Throws: the faults of a scene; what `read` throws.
    package init(_ file: SceneTestFile, read: @escaping (String) throws -> String) throws {
        self.file = file
        self.read = read
        scenes = try SceneTestRun.collect(file.given.scenes.map(\.part), read)
        _ = try SceneWorld(file.given, scenes: scenes)
    }

    private static func collect(_ paths: [String], _ read: (String) throws -> String) throws
        -> [(file: String, text: String)]
    {
        var found: [(file: String, text: String)] = []
        for path in paths {
            for file in try SceneImports.collect(path, read: read)
            where !found.contains(where: { $0.file.hasSameBytes(as: file.path) }) {
                found.append((file.path, file.text))
            }
        }
        return found
    }

    /// - Returns: what the first faulty step of the test has shown; nothing for a test that passes.
    package func run(_ test: SceneTest) -> [Mismatch] {
        let position = test.steps.first?.position ?? .none
        let world: SceneWorld
        do throws(Failure) {
            world = try SceneWorld(file.given, scenes: scenes)
            try world.begin()
        } catch { return [Mismatch(position, "the scene cannot be loaded", error)] }
        for document in file.given.applied {
            if let refused = refusal(at: document.position, { () throws(Failure) in try apply(document, world) }) {
                return [Mismatch(document.position, "the document cannot be applied", refused)]
            }
        }
        if !file.given.writes.isEmpty {
            let place = file.given.writes[0].operand?.position ?? position
            do throws(Failure) { try write(file.given.writes, nil, world) } catch {
                return [Mismatch(place, "'set' of given is refused", error)]
            }
        }
        do throws(Failure) { try world.watch() } catch { return [Mismatch(position, "nothing can be watched", error)] }
        for step in test.steps {
            let found = run(step, world)
            if !found.isEmpty { return found }
        }
        return []
    }

    // MARK: Steps

    private func run(_ step: Step, _ world: SceneWorld) -> [Mismatch] {
        world.beginStep(recordsRuns: step.expectations.contains { $0.part.isAboutRuns })
        let refused = refusal(at: step.position) { () throws(Failure) in try perform(step, world) }
        switch (refused, step.refusal) {
        case (let refused?, let expected?):
            if refused.code != expected.part {
                return [
                    Mismatch(
                        expected.position, "the step is refused with another error: \(refused.message)",
                        expected: expected.part.rawValue, seen: refused.code.rawValue)
                ]
            }
        case (let refused?, nil):
            return [Mismatch(step.position, "the step is refused (\(refused.code.rawValue))", refused)]
        case (nil, let expected?):
            return [
                Mismatch(
                    expected.position, "the step is not refused", expected: expected.part.rawValue, seen: "nothing")
            ]
        case (nil, nil): break
        }
        // The reads of the checks below run rules, too, so this comes first.
        let (changed, ran) = (paths(world.changed), paths(world.ran))
        return step.expectations.compactMap { compare($0, changed, ran, world) }
    }

    private func refusal(at position: SourcePosition, _ body: () throws(Failure) -> Void) -> Failure? {
        do throws(Failure) { try body() } catch { return error }
        return nil
    }

    private func perform(_ step: Step, _ world: SceneWorld) throws(Failure) {
        switch step.act {
        case nil: break
        case .write(let operations): try write(operations, step.animation, world)
        case .call(let calls):
            for call in calls {
                var arguments = ValueMap()
                for (name, value) in call.arguments { arguments[.string(name)] = try value.part.read(in: world) }
                try world.call(
                    .do(
                        path: RequestPath(call.path), arguments: arguments,
                        step.animation.map { TransactionOptions(animation: $0) } ?? TransactionOptions()))
            }
        case .advance(let span): try world.advance(span)
        case .restart(let after, let files):
            let other = try files.map { (files) throws(Failure) in
                try reading { try SceneTestRun.collect(files.map(\.part), read) }
            }
            try world.restart(after: after, scenes: other)
        case .apply(let document): try apply(document, world)
        }
    }

    private func write(_ operations: [Operation], _ animation: Value?, _ world: SceneWorld) throws(Failure) {
        var mutations: [Mutation] = []
        for operation in operations {
            let value = try operation.operand?.part.read(in: world)
            mutations.append(
                Mutation(operation: operation.kind, path: operation.path, value: value, index: operation.index))
        }
        var options = animation.map { TransactionOptions(animation: $0) } ?? TransactionOptions()
        options.motions = operations.enumerated().compactMap { position, operation in
            operation.animation.map { ["animation": $0, "mutations": [.int(Int64(position))]] }
        }
        try world.call(.transact(mutations, options))
    }

    private func apply(_ document: Document, _ world: SceneWorld) throws(Failure) {
        let value: Value
        switch document.source {
        case .value(let written): value = written
        case .file(let path):
            value = try reading {
                try SceneImports.bundle(try SceneImports.collect(path, read: read))
            }
        }
        try world.call(
            .apply(.init(document: value, at: document.at, mode: document.mode, dryRun: false, options: .init())))
    }

    private func reading<Part>(_ body: () throws -> Part) throws(Failure) -> Part {
        do { return try body() } catch let faults as SceneFaults { throw faults.failure } catch let failure as Failure {
            throw failure
        } catch { throw Failure(.unavailable, "\(error)") }
    }

    // MARK: Expectations

    private typealias Paths = [(text: String, pattern: PathPattern)]

    private func paths(_ texts: Set<String>) -> Paths {
        texts.sorted().compactMap { text in
            (try? AttributePath(text)).map { (text, PathPattern(attributesAt: $0)) }
        }
    }

    private func compare(_ expectation: Located<Expectation>, _ changed: Paths, _ ran: Paths, _ world: SceneWorld)
        -> Mismatch?
    {
        let position = expectation.position
        switch expectation.part {
        case .value(let path, let wanted, let isShown): return compare(path, wanted, isShown, position, world)
        case .changed(let pattern):
            return missing(pattern, in: changed, "did not change", "what changed", position, world)
        case .ran(let pattern): return missing(pattern, in: ran, "did not run", "the rules that ran", position, world)
        case .unchanged(let pattern):
            return surplus(changed.filter { pattern.covers($0.pattern) }, "changed", position, world)
        case .idle(let pattern): return surplus(ran.filter { pattern.covers($0.pattern) }, "ran", position, world)
        case .changedNothingBut(let patterns):
            return surplus(others(changed, patterns), "changed, too", position, world)
        case .ranNothingBut(let patterns): return surplus(others(ran, patterns), "ran, too", position, world)
        case .children(let path, let wanted):
            guard let node = world.map(.describe(path: path, depth: 1)) else {
                return Mismatch(position, "there is no node \(path)")
            }
            let ids = (node["children"]?.list ?? []).compactMap { $0.map?["id"]?.string }
            if ids == wanted { return nil }
            func list(_ ids: [String]) -> String { Value.list(ids.map { .string($0) }).jsonText }
            return Mismatch(position, "\(path) has other children", expected: list(wanted), seen: list(ids))
        }
    }

    private func others(_ paths: Paths, _ patterns: [PathPattern]) -> Paths {
        paths.filter { path in !patterns.contains { $0.covers(path.pattern) } }
    }

    private func missing(
        _ pattern: PathPattern, in paths: Paths, _ what: String, _ all: String, _ position: SourcePosition,
        _ world: SceneWorld
    ) -> Mismatch? {
        if paths.contains(where: { pattern.covers($0.pattern) }) { return nil }
        var mismatch = Mismatch(position, "\(pattern) \(what)", seen: told(paths))
        mismatch.explanation = world.explain("\(pattern)")
        return mismatch
    }

    private func surplus(_ paths: Paths, _ what: String, _ position: SourcePosition, _ world: SceneWorld) -> Mismatch? {
        guard let first = paths.first else { return nil }
        var mismatch = Mismatch(position, "\(first.text) \(what)", seen: told(paths))
        mismatch.explanation = world.explain(first.text)
        return mismatch
    }

    private static let toldPaths = 20

    private func told(_ paths: Paths) -> String {
        let shown = paths.prefix(SceneTestRun.toldPaths).map { Value.string($0.text) }
        let more = paths.count > shown.count ? [Value.string("and \(paths.count - shown.count) more")] : []
        return Value.list(ValueList(shown + more)).jsonText
    }

    private func compare(
        _ path: String, _ wanted: Expectation.Wanted, _ isShown: Bool, _ position: SourcePosition, _ world: SceneWorld
    ) -> Mismatch? {
        let content = world.content(path, isShown: isShown)
        let expected: String
        switch (wanted, content) {
        case (.value(let value), .value(let seen)):
            if value.isExpected(seen) { return nil }
            expected = value.jsonText
        case (.value(let value), .failure): expected = value.jsonText
        case (.failure(let code), .failure(let failure)):
            if failure.code == code { return nil }
            expected = "error \(code.rawValue)"
        case (.failure(let code), .value): expected = "error \(code.rawValue)"
        case (.rule(let rule), .failure): expected = "=\(rule)"
        case (.rule(let rule), .value(let seen)):
            do throws(Failure) {
                switch try world.value(of: rule, ValueMap([(.string("value"), seen)])) {
                case .bool(true): return nil
                case .bool(false): expected = "=\(rule)"
                case let other:
                    return Mismatch(
                        position, "the rule '\(rule)' gives \(other.jsonText), not a bool",
                        hint: "it says what must be true of the value, as in '=value > 3'")
                }
            } catch { return Mismatch(position, "the rule '\(rule)' fails", error) }
        }
        var mismatch = Mismatch(
            position, "\(path) has another \(isShown ? "displayed value" : "value")", expected: expected,
            seen: content.told)
        mismatch.explanation = world.explain(path)
        if case .failure(let failure) = content { mismatch.hint = failure.hint }
        return mismatch
    }
}

extension Content {
    fileprivate var told: String {
        switch self {
        case .value(let value): value.jsonText
        case .failure(let failure): "error \(failure.code.rawValue): \(failure.message)"
        }
    }
}

extension Written {
    fileprivate func read(in world: SceneWorld) throws(Failure) -> Value {
        switch self {
        case .value(let value): value
        case .rule(let rule): try world.value(of: rule)
        }
    }
}

extension SceneWorld {
    /// The lines of `explain` for an attribute, and the values that its rule reads; empty for a pattern.
    fileprivate func explain(_ path: String) -> [(name: String, value: Value)] {
        guard let map = map(.explain(path: path, revision: nil)) else { return [] }
        var lines: [(String, Value)] = []
        for name in ["kind", "rule"] { if let value = map[.string(name)] { lines.append((name, value)) } }
        let inputs = (map["dependencies"]?.list ?? []).compactMap(\.string)
        if !inputs.isEmpty {
            // Operators over time have no paths.
            let values = inputs.map { ($0, content($0)) }.filter { $0.1.failure?.code != .notFound }.map {
                (Value.string($0), $1.value ?? .string($1.told))
            }
            lines.append(("reads", .map(ValueMap(values))))
        }
        if let changed = map["changed"]?.map, changed["revision"] != .null {
            var told = ValueMap()
            for name in ["revision", "time", "writes", "action", "label"] {
                if let value = changed[.string(name)], value != .null, value != [] { told[.string(name)] = value }
            }
            lines.append(("changed", .map(told)))
        }
        let chain = (map["chain"]?.list ?? [])
        if chain.count > 1 { lines.append(("through", .list(chain))) }
        return lines
    }
}

extension Value {
    /// The difference that counts as none, for numbers above 1 as a part of them.
    private static let tolerance = 1e-9

    private static func isNear(_ a: Double, _ b: Double) -> Bool {
        a == b || a.isNaN && b.isNaN || abs(a - b) <= tolerance * max(1, abs(a), abs(b))
    }

    /// The numbers of which a colour, a vector or an angle consists.
    private var components: [Double]? {
        guard case .opaque(let value) = self else { return nil }
        return switch value {
        case let color as ColorValue: [color.color.red, color.color.green, color.color.blue, color.color.alpha]
        case let vector as VectorValue: vector.components
        case let angle as AngleValue: [angle.degrees]
        default: nil
        }
    }

    /// True if a value is the one that this literal describes. Numbers are compared as numbers, whatever their types
    /// are, and texts with values that are written as texts. Admitted values are not deep.
    func isExpected(_ seen: Value) -> Bool {
        if self == seen { return true }
        switch (self, seen) {
        case (.list(let wanted), .list(let seen)):
            return wanted.count == seen.count && zip(wanted, seen).allSatisfy { $0.isExpected($1) }
        case (.map(let wanted), .map(let seen)):
            return wanted.count == seen.count
                && wanted.allSatisfy { key, value in seen[key].map { value.isExpected($0) } ?? false }
        default:
            if let wanted = number, let number = seen.number { return Value.isNear(wanted, number) }
            guard let read = ValueType(of: seen).accept(self) else { return false }
            guard let wanted = read.components, let numbers = seen.components else { return read == seen }
            return wanted.count == numbers.count && zip(wanted, numbers).allSatisfy(Value.isNear)
        }
    }
}
