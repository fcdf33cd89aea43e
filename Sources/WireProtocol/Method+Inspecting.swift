import AttributeValues

// Inspecting the daemon.

extension Method {
    static var describe: Method {
        Method(
            name: "describe",
            summary: "The tree below a node with types; without a path the protocol itself, as OpenRPC.",
            parameters: [
                .optional(.path, .string, "A node or an attribute."),
                .optional(.depth, .count, "Levels of children to show; all when left out."),
            ],
            result: .any, errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "the attribute, or the node and all below it; no right without a path")
        ) { (given) throws(Failure) in
            .describe(path: given.text(.path), depth: given.int(.depth).map { Int($0) })
        }
    }

    /// OpenRPC's name for `describe` without a path. The table does not list it.
    static var discover: Method {
        Method(
            name: "rpc.discover", summary: "The protocol itself, as OpenRPC.", parameters: [], result: .any, errors: [],
            need: nil
        ) { (_) throws(Failure) in .describe(path: nil, depth: nil) }
    }

    static var board: Method {
        Method(
            name: "board",
            summary: "The cards of a part of the tree, as dashboards show them, in rows; or the card of an attribute.",
            parameters: [
                .optional(
                    .path, .string, default: "/",
                    "A node, or an attribute. `/` with a single node below it is this node."),
                .optional(.panel, .map(.any), "For an attribute: the panel of its card."),
            ],
            result: .any, errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "the attribute, or the node and all below it")
        ) { (given) throws(Failure) in
            .board(path: given.path(), panel: given[.panel]?.value.map ?? ValueMap())
        }
    }

    static var explain: Method {
        Method(
            name: "explain",
            summary:
                "Tells why an attribute has its value, why it last changed, and why it did not change at a revision.",
            parameters: [path(), .optional(.revision, .count, "A revision at which it may have stayed the same.")],
            result: .any, errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "the path")
        ) { (given) throws(Failure) in
            .explain(path: given.path(), revision: given.int(.revision).map { UInt64($0) })
        }
    }

    static var history: Method {
        Method(
            name: "history",
            summary: "The recorded past of an attribute with `history`: least and greatest values by time, for charts.",
            parameters: [path()],
            result: .object([
                .required("span", .number, "Seconds that are recorded."),
                .required("step", .number, "Seconds of each stretch. The span has at most 600 stretches."),
                .required(
                    "times", .array(.string),
                    "When each stretch begins, RFC 3339, oldest first. Stretches without a number are left out."),
                .required("least", .array(.number), "The least value in each stretch."),
                .required("greatest", .array(.number), "The greatest value in each stretch."),
                revision,
            ]),
            errors: [.notFound, .invalid, .denied, .limit], need: Need(.read, on: "the path")
        ) { (given) throws(Failure) in .history(path: given.path()) }
    }

    static var dump: Method {
        Method(
            name: "dump", summary: "The graph as data, whole or below a path; or the tree as a scene document.",
            parameters: [
                .optional(.path, .string, default: "/", "The node to begin at."),
                .optional(
                    .format, .choice(Request.DumpFormat.allCases.map(\.rawValue)), default: "json",
                    "dot is Graphviz's; scene is a document to apply."),
                .optional(
                    .layer, .string, "Only what the layer of this name at the node says, with the format scene."),
            ],
            result: .any, errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "the node and all below it")
        ) { (given) throws(Failure) in
            let format = given.text(.format).flatMap(Request.DumpFormat.init) ?? .json
            let layer = given.text(.layer)
            guard layer == nil || format == .scene else {
                throw Failure(.invalid, "a layer is a document", hint: "ask for the format scene")
            }
            return .dump(path: given.text(.path) ?? "/", format: format, layer: layer)
        }
    }

    static var stats: Method {
        Method(
            name: "stats", summary: "Counters of the graph and the daemon.",
            parameters: [
                .optional(
                    .format, .choice(Request.StatsFormat.allCases.map(\.rawValue)), default: "json",
                    "openmetrics is Prometheus' text.")
            ],
            result: .any, errors: [.denied, .limit], need: Need(.read, on: "the whole tree")
        ) { (given) throws(Failure) in
            .stats(format: given.text(.format).flatMap(Request.StatsFormat.init) ?? .json)
        }
    }

    static var trace: Method {
        Method(
            name: "trace",
            summary: "Records what each turn did and which rules ran, with their times, in the Chrome trace format.",
            parameters: [
                .optional(
                    .enable, .bool,
                    "True starts a recording if none runs, false ends it. Without it, the recording so far is returned."
                )
            ],
            result: .any, errors: [.denied, .limit], need: Need(.admin, on: "the whole tree")
        ) { (given) throws(Failure) in .trace(enable: given.optionalFlag(.enable)) }
    }

    static var layers: Method {
        Method(
            name: "layers", summary: "The named layers at a node and below it, lower ones first.",
            parameters: [.optional(.path, .string, default: "/", "The path of a node.")],
            result: .object([
                .required("epoch", .string, "The life of the graph, for `if` of apply."), revision,
                .required(
                    "layers",
                    .array(
                        .object([
                            .required("name", .string, "The name of the layer."),
                            .required("at", .string, "The path of the node at which it was applied."),
                            .required("revision", .count, "The last revision that changed it."),
                            .required("nodes", .count, "Number of nodes of which it says something."),
                            .required("waiting", .count, "Number of them that do not exist, or that it does not fit."),
                        ])), "The layers."),
            ]), errors: [.invalid, .denied], need: Need(.read, on: "the node and all below it")
        ) { (given) throws(Failure) in
            .layers(path: given.path())
        }
    }

    static var prune: Method {
        Method(
            name: "prune",
            summary:
                "Deletes the stored rows of nodes that do not exist, "
                + "because a scene has changed or a list lacks the element.",
            parameters: [],
            result: .object([.required("pruned", .count, "The number of deleted rows.")]), errors: [.denied, .limit],
            need: Need(.admin, on: "the whole tree")
        ) { (_) throws(Failure) in .prune }
    }

    static var eval: Method {
        Method(
            name: "eval", summary: "Evaluates a rule without touching the graph.",
            parameters: [
                .required(.expression, .string, "A rule in CEL."),
                .optional(.bindings, .map(.any), "Variables by name."),
                .optional(.at, .string, "The node in whose scope names are found; the root when left out."),
                typed,
            ],
            result: .object(content + [revision]),
            errors: [.ruleSyntax, .ruleType, .notFound, .invalid, .limit, .denied],
            need: Need(.read, on: "the node `at` and all below it")
        ) { (given) throws(Failure) in
            .eval(
                expression: given.text(.expression) ?? "", bindings: given.value(.bindings).map ?? ValueMap(),
                at: given.text(.at), typed: given.flag(.typed))
        }
    }
}
