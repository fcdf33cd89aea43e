public import AGClient
public import AttributeValues

/// Writes that are done together when somebody calls the action. Its rules and places use the names of its node and its
/// parameters.
///
///     Action("allOff", .set("/home/*.isOn", to: false).animation("smooth"))
///     Action("louder", parameters: ["by": 0.1], .set(\.volume, to: .rule("volume + by")))
public struct Action: Attribute {
    public let draft: AttributeDraft

    /// - Parameter parameters: their defaults by name; null for a parameter that each call has to give.
    public init(_ name: String, parameters: KeyValuePairs<String, Value> = [:], _ first: Step, _ others: Step...) {
        let steps = [first] + others
        var document = ValueMap()
        if !parameters.isEmpty {
            let forms = parameters.map { name, standard -> (Value, Value) in
                (.string(name), standard == .null ? ["type": "dyn"] : ["default": standard.writtenLiteral])
            }
            document["parameters"] = .map(ValueMap(forms))
        }
        if others.isEmpty, case .map(let step) = first.document {
            for (key, value) in step { document[key] = value }
        } else {
            document["steps"] = .list(steps.map(\.document))
        }
        let problems = parameters.compactMap { SceneNames.problem(ofName: $0.key, "a parameter") }
        draft = AttributeDraft(
            .actions, name, .map(document), problem: problems.first ?? steps.lazy.compactMap(\.problem).first)
    }

    /// One operation at one target: a name in scope (`\.volume`), or a path, which may have wildcards
    /// (`"/home/*.isOn"`).
    public struct Step {
        let document: Value
        let problem: String?

        private init(document: Value, problem: String?) {
            self.document = document
            self.problem = problem
        }

        private init(_ operation: String, _ target: String, _ value: SceneExpression) {
            let written: Value = .map(ValueMap([(.string(target), value.document)]))
            self.init(document: .map(ValueMap([(.string(operation), written)])), problem: value.problem)
        }

        private init(_ operation: String, _ target: String) {
            self.init(document: .map(ValueMap([(.string(operation), .string(target))])), problem: nil)
        }

        private init(_ operation: String, _ target: PlacePath, _ value: SceneExpression) {
            self.init(operation, "$" + target.text, value)
        }

        public static func set(_ path: String, to value: SceneExpression) -> Step { Step("set", path, value) }
        public static func set(_ place: PlacePath, to value: SceneExpression) -> Step { Step("set", place, value) }
        public static func add(_ amount: SceneExpression, to path: String) -> Step { Step("add", path, amount) }
        public static func add(_ amount: SceneExpression, to place: PlacePath) -> Step { Step("add", place, amount) }
        public static func append(_ value: SceneExpression, to path: String) -> Step { Step("append", path, value) }
        public static func append(_ value: SceneExpression, to place: PlacePath) -> Step {
            Step("append", place, value)
        }
        public static func toggle(_ path: String) -> Step { Step("toggle", path) }
        public static func toggle(_ place: PlacePath) -> Step { Step("toggle", "$" + place.text) }
        /// Removes an element or entry of a value.
        public static func remove(_ path: String) -> Step { Step("remove", path) }
        public static func remove(_ place: PlacePath) -> Step { Step("remove", "$" + place.text) }
        /// If the value is another one, the action does nothing.
        public static func test(_ path: String, is value: SceneExpression) -> Step { Step("test", path, value) }
        public static func test(_ place: PlacePath, is value: SceneExpression) -> Step { Step("test", place, value) }

        @_disfavoredOverload
        public static func set(_ path: String, to value: some ValueRepresentable) -> Step {
            Step("set", path, .literal(value))
        }
        @_disfavoredOverload
        public static func set(_ place: PlacePath, to value: some ValueRepresentable) -> Step {
            Step("set", place, .literal(value))
        }

        /// Inserts a value before an element of a list, as `"/home.log[0]"`.
        public static func insert(_ value: SceneExpression, before path: String) -> Step {
            Step("insert", path, value)
        }
        public static func insert(_ value: SceneExpression, before place: PlacePath) -> Step {
            Step("insert", place, value)
        }
        /// Calls other actions, without arguments.
        public static func call(_ path: String) -> Step { Step("do", path) }
        public static func call(_ place: PlacePath) -> Step { Step("do", "$" + place.text) }

        /// A rule; the step is left out while it is false.
        public func when(_ condition: String) -> Step {
            var map = document.map ?? ValueMap()
            map["when"] = .string(condition)
            return Step(document: .map(map), problem: problem)
        }

        /// The animation of what the step writes, as `"smooth"` or `"easeInOut(duration: 1)"`.
        public func animation(_ animation: String) -> Step {
            var map = document.map ?? ValueMap()
            map["animation"] = .string(animation)
            return Step(document: .map(map), problem: problem)
        }
    }
}
