import AttributeValues

extension Method {
    /// All methods, the most common first. They are searched in this order.
    public static func table() -> [Method] {
        [get, set, transact, subscribe, unsubscribe, `do`, apply, remove, move, onDisconnect, hello, ping, describe]
            + [delegate, answer]
            + [explain, history, dump, stats, trace, eval, prune]
    }

    // Parameters and shapes that several methods share.

    private static let pathMeaning = "A path, as /player/playButton.isPlaying or /app.items[0].done."
    private static func path(_ meaning: String = pathMeaning) -> Parameter { .required(.path, .string, meaning) }
    private static var typed: Parameter {
        .optional(
            .typed, .bool, default: false, "The values of the request and of the answer are typed JSON.")
    }
    private static var animation: Parameter {
        .optional(
            .animation, .objectOrString,
            "How displayed values move to the new ones: text as easeInOut(duration: 1), or its JSON form.")
    }
    private static var transactionOptions: [Parameter] {
        [
            animation,
            .optional(
                .disablesAnimations, .bool, default: false,
                "True: the transaction animates nothing, even if a scene or a binding has an animation."),
            .optional(.label, .string, "Shown in events and explanations."),
        ]
    }
    /// Options of requests that write values at once.
    private static var writeOptions: [Parameter] {
        transactionOptions + [
            typed,
            .optional(
                .elapsed, .number, default: 0,
                "Seconds for which the animation has run already. It continues from there."),
            .optional(
                .once, .string,
                "An identifier of the request. If this user has used it before, the request changes nothing."),
        ]
    }
    private static var written: Shape {
        .object([
            revision,
            .optional(
                "repeated", .bool,
                "True if the identifier `once` was used before. The revision is then that of the first request."),
        ])
    }
    static var mutation: Shape {
        .object([
            .required("op", .choice(Mutation.Operation.allCases.map(\.rawValue)), "The operation."),
            .required("path", .string, "The path of the attribute or of a part of its value."),
            .optional(
                "value", .any, "Operand of set, add, append, insert, merge and test; toggle and remove have none."),
            .optional("index", .count, "The index before which insert puts the value; the end when left out."),
        ])
    }
    private static var mutations: Parameter {
        .required(.mutations, .array(mutation), "Performed in order, all or none.")
    }
    private static var revision: Field {
        Field.required("revision", .count, "The revision that the answer belongs to.")
    }
    private static var revisionOnly: Shape { Shape.object([revision]) }
    /// The content of an attribute: `value`, or `error` instead of it.
    static var content: [Field] {
        [
            .optional("value", .any, "The value, unless there is an error."),
            .optional("error", .object(failure), "Why the attribute has no value; the request itself succeeded."),
        ]
    }
    static var failure: [Field] {
        [
            .required("code", .choice(ErrorCode.allCases.map(\.rawValue)), "A stable name."),
            .required("message", .string, "One sentence for a person."),
            .optional("path", .string, "The path at fault."),
            .optional("rule", .string, "The text of the rule at fault."),
            .optional("line", .count, "The line of the fault, from 1."),
            .optional("column", .count, "The column of the fault in code points, from 1."),
            .optional("hint", .string, "What to do about it."),
        ]
    }
    private static var writeErrors: [ErrorCode] {
        [.notFound, .typeMismatch, .readOnly, .dangling, .removed, .invalid, .limit, .denied]
    }

    // Reading and writing values.

    private static var get: Method {
        Method(
            name: "get",
            summary:
                "The value of one attribute or of several, at one revision. Exactly one of path and paths is given.",
            parameters: [
                .optional(.path, .string, pathMeaning),
                .optional(
                    .paths, .array(.string),
                    "Several paths, or patterns in which * is one segment and ** any number, answered as a map."),
                .optional(
                    .presentation, .bool, default: false, "Return the displayed value instead of the model value."),
                typed,
            ],
            result: .object(
                content + [
                    .optional("values", .map(.object(content)), "By path, when asked with paths."), revision,
                ]),
            errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "each path")
        ) { (given) throws(Failure) in
            let options = (given.flag(.presentation), given.flag(.typed))
            switch (given[.path], given.texts(.paths)) {
            case (_?, nil):
                return .get(.init(targets: [given.target()], isSingle: true, options.0, options.1))
            case (nil, let paths?):
                return .get(.init(paths: paths, isSingle: false, presentation: options.0, typed: options.1))
            default:
                throw Failure(.invalid, "get: exactly one of \"path\" and \"paths\" is needed")
            }
        }
    }

    private static var set: Method {
        Method(
            name: "set", summary: "Writes one value, as a transaction of its own.",
            parameters: [path(), .required(.value, .any, "The new value.")] + writeOptions,
            result: written, errors: writeErrors, need: Need(.write, on: "the path")
        ) { (given) throws(Failure) in
            .set(
                Mutation(operation: .set, target: given.target(), value: given.value(.value)), given.writeOptions())
        }
    }

    private static var transact: Method {
        Method(
            name: "transact", summary: "Commits mutations together, all or none, as one revision.",
            parameters: [mutations] + writeOptions, result: written,
            errors: writeErrors + [.conflict, .ruleFailed], need: Need(.write, on: "each path")
        ) { (given) throws(Failure) in
            .transact(try given.mutations(), given.writeOptions())
        }
    }

    private static var `do`: Method {
        Method(
            name: "do",
            summary: "Calls an action of a node: what it writes is committed together, all or none, as one revision.",
            parameters: [
                path("The path of the action, as /home.allOff."),
                .optional(
                    .arguments, .map(.any), "The action's parameters by name; those with a default may be left out."),
            ] + writeOptions, result: written,
            errors: writeErrors + [.conflict, .ruleFailed], need: Need(.do, on: "the path")
        ) { (given) throws(Failure) in
            .do(
                path: given.target(), arguments: given.value(.arguments).map ?? ValueMap(),
                given.writeOptions())
        }
    }

    private static var onDisconnect: Method {
        Method(
            name: "onDisconnect",
            summary:
                "Adds mutations that the daemon commits when this client's connection ends, after those given before.",
            parameters: [mutations] + transactionOptions + [typed], result: revisionOnly,
            errors: writeErrors, need: Need(.write, on: "each path")
        ) { (given) throws(Failure) in
            .onDisconnect(try given.mutations(), given.transactionOptions(isTyped: given.flag(.typed)))
        }
    }

    // Writes that another client performs.

    private static var delegate: Method {
        Method(
            name: "delegate",
            summary:
                "Sends set, transact and do of other clients at a node and below to this client, as forward events.",
            parameters: [path("The node.")],
            result: .object([.required("subscription", .count, "The number in the events."), revision]),
            errors: [.notFound, .conflict, .invalid, .limit, .denied],
            need: Need(.define, on: "the node and all below it")
        ) { (given) throws(Failure) in .delegate(path: given.path()) }
    }

    private static var answer: Method {
        Method(
            name: "answer", summary: "Answers the request of a forward event.",
            parameters: [
                .required(.forward, .count, "The number of the request."),
                .optional(.result, .map(.any), "The result of the request."),
                .optional(.error, .object(failure), "Why the request was refused, instead of the result."),
            ],
            result: revisionOnly, errors: [.notFound, .invalid]
        ) { (given) throws(Failure) in
            let error = given[.error].map { error in
                Failure(
                    ErrorCode(rawValue: error["code"]?.string ?? "") ?? .invalid, error["message"]?.string ?? "",
                    path: error["path"]?.string, hint: error["hint"]?.string)
            }
            return .answer(forward: given.int(.forward) ?? 0, result: given[.result]?.value, error: error)
        }
    }

    // Definitions.

    private static var apply: Method {
        let paths = Shape.array(.string)
        return Method(
            name: "apply",
            summary: "Checks the whole scene document, then creates, merges or replaces the nodes that it defines.",
            parameters: [
                .required(.document, .objectOrString, "The scene: its YAML or JSON text, or the document itself."),
                .optional(.at, .string, default: "/", "The node below which the document's nodes are made."),
                .optional(
                    .mode, .choice(Request.ApplyMode.allCases.map(\.rawValue)), default: "create",
                    "create refuses nodes that exist, merge updates them, "
                        + "replace makes them equal to the document. Both keep the values of states."
                ),
                .optional(.dryRun, .bool, default: false, "Only check the document and report what would change."),
            ] + transactionOptions,
            result: .object([
                revision, .required("added", paths, "Nodes that were created."),
                .required("removed", paths, "Nodes that were removed."),
                .required("changed", paths, "Nodes whose definition changed."),
                .optional(
                    "differences", .array(.string), "Only of a dry run: the changes of remaining nodes, one line each."),
                .optional("unset", paths, "Paths of values in the document for which there is no state."),
            ]),
            errors: [
                .invalid, .notFound, .conflict, .ruleSyntax, .ruleType, .typeMismatch, .readOnly, .limit, .denied,
            ],
            need: Need(
                .define,
                on:
                    "the node `at` and all below it, or on the whole tree if the document declares something; "
                    + "the mode replace needs *read* "
                    + "on the whole tree, too, and so does a document that reads the environment")
        ) { (given) throws(Failure) in
            .apply(
                .init(
                    document: given.value(.document), at: given.text(.at) ?? "/",
                    mode: given.text(.mode).flatMap(Request.ApplyMode.init) ?? .create, dryRun: given.flag(.dryRun),
                    options: given.transactionOptions()))
        }
    }

    private static var remove: Method {
        Method(
            name: "remove", summary: "Removes a node with its attributes, children, subscriptions and animations.",
            parameters: [path("The path of a node.")] + transactionOptions, result: revisionOnly,
            errors: [.notFound, .invalid, .conflict, .limit, .denied],
            need: Need(.define, on: "the node and all below it")
        ) { (given) throws(Failure) in
            .remove(path: given.path(), given.transactionOptions())
        }
    }

    private static var move: Method {
        Method(
            name: "move",
            summary: "Moves a node with all below it to another parent or another position among its siblings.",
            parameters: [
                path("The path of a node."), .optional(.to, .string, "The new parent; the present one when left out."),
                .optional(.index, .count, "The position among the new siblings, from 0; the end when left out."),
            ] + transactionOptions,
            result: revisionOnly, errors: [.notFound, .invalid, .conflict, .limit, .denied],
            need: Need(
                .define, on: "the node and its new parent, with all below them, with `to` also *read* on the whole tree"
            )
        ) { (given) throws(Failure) in
            .move(
                .init(path: given.path(), to: given.text(.to), index: given.int(.index).map { Int($0) }),
                given.transactionOptions())
        }
    }

    // Watching.

    private static var subscribe: Method {
        Method(
            name: "subscribe",
            summary: "Watches paths or patterns. The snapshot comes after the reply, as an update with initial: true.",
            parameters: [
                .required(.paths, .array(.string), "Paths, or patterns in which * is one segment and ** any number."),
                .optional(
                    .events, .array(.choice(EventKinds.names.map(\.name))), default: ["update"],
                    "The kinds of events to send."),
                .optional(.initial, .bool, "Begin with the current values; true unless events leaves update out."),
                .optional(
                    .since,
                    .object([
                        .required("epoch", .string, "The life of the graph, as hello or subscribe told it."),
                        .required("revision", .count, "The last revision that was received whole."),
                    ]), "Continue from there instead of from a snapshot."),
                .optional(.maxRate, .positive, "Updates per second; between them the newest values are kept."),
                .optional(
                    .frames, .object([.required("rate", .positive, "Samples per second.")]),
                    "Displayed values of moving attributes; implies the event frames."),
                .optional(.css, .bool, default: false, "Timelines include an easing that a browser can play."),
                .optional(
                    .bookmarks, .bool, default: false, "Send a bookmark when all events of a revision have been sent."),
                typed,
                .optional(
                    .writers, .bool, default: false,
                    "Updates of one revision name the client that wrote, if the subscriber may read everything."),
            ],
            result: .object([
                .required("subscription", .count, "The number of the subscription, which its events repeat."),
                .required("epoch", .string, "The life of the graph."), revision,
                .optional(
                    "resumed", .bool,
                    "Only with since. False if a snapshot follows, "
                        + "because the daemon no longer knows the changes since then."
                ),
            ]),
            errors: [.invalid, .notFound, .limit, .denied],
            need: Need(.read, on: "all that the paths and patterns can match")
        ) { (given) throws(Failure) in
            .subscribe(try given.subscription())
        }
    }

    private static var unsubscribe: Method {
        Method(
            name: "unsubscribe", summary: "Ends a subscription of this client.",
            parameters: [.required(.subscription, .count, "Its number.")], result: revisionOnly, errors: [.notFound]
        ) { (given) throws(Failure) in
            .unsubscribe(subscription: given.int(.subscription) ?? 0)
        }
    }

    // Connecting.

    private static var hello: Method {
        Method(
            name: "hello",
            summary:
                "Names the client. Returns the protocol's version, the epoch, "
                + "the revision and the present time on both clocks.",
            parameters: [
                .optional(.client, .string, "The client's name, for explanations."),
                .optional(
                    .as, .string,
                    "The principal for whom the connection acts from now on. "
                        + "This needs the right admin on the whole tree."
                ),
            ],
            result: .object([
                .required("server", .string, "The daemon's name."),
                .required("protocol", .count, "The protocol's version."),
                .required("epoch", .string, "The life of the graph."), revision,
                .required(
                    "time",
                    .object([
                        .required("monotonic", .number, "Seconds on the daemon's monotonic clock."),
                        .required("wall", .string, "The same moment as wall time, RFC 3339."),
                    ]), "Now, on both clocks."),
            ]),
            errors: [.denied, .invalid]
        ) { (given) throws(Failure) in .hello(client: given.text(.client), principal: given.text(.as)) }
    }

    private static var ping: Method {
        Method(
            name: "ping", summary: "Answers after all earlier requests of this client.", parameters: [],
            result: .object([.required("pong", .bool, "True.")]), errors: []
        ) { (_) throws(Failure) in .ping }
    }

    // Inspecting the daemon.

    private static var describe: Method {
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

    private static var explain: Method {
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

    private static var history: Method {
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

    private static var dump: Method {
        Method(
            name: "dump", summary: "The graph as data, whole or below a path; or the tree as a scene document.",
            parameters: [
                .optional(.path, .string, default: "/", "The node to begin at."),
                .optional(
                    .format, .choice(Request.DumpFormat.allCases.map(\.rawValue)), default: "json",
                    "dot is Graphviz's; scene is a document to apply."),
            ],
            result: .any, errors: [.notFound, .invalid, .denied, .limit],
            need: Need(.read, on: "the node and all below it")
        ) { (given) throws(Failure) in
            .dump(path: given.text(.path) ?? "/", format: given.text(.format).flatMap(Request.DumpFormat.init) ?? .json)
        }
    }

    private static var stats: Method {
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

    private static var trace: Method {
        Method(
            name: "trace",
            summary:
                "Records what each turn did and which rules ran, with their times, in the Chrome trace format.",
            parameters: [
                .optional(
                    .enable, .bool,
                    "True starts a recording if none runs, false ends it. Without it, the recording so far is returned."
                )
            ],
            result: .any, errors: [.denied, .limit], need: Need(.admin, on: "the whole tree")
        ) { (given) throws(Failure) in .trace(enable: given.optionalFlag(.enable)) }
    }

    private static var prune: Method {
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

    private static var eval: Method {
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
                .init(
                    expression: given.text(.expression) ?? "", bindings: given.value(.bindings).map ?? ValueMap(),
                    at: given.text(.at),
                    typed: given.flag(.typed)))
        }
    }
}
