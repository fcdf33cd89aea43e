import AttributeValues

// Changing the tree.

extension Method {
    static var apply: Method {
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
                        + "replace also removes what clients have applied before. Both keep the values of states."),
                .optional(
                    .layer, .string,
                    "The name of a layer at the node `at`. The document is all that the layer says from now on; "
                        + "it takes no mode."),
                .optional(
                    .if,
                    .object([
                        .required("epoch", .string, "The life of the graph, as hello or subscribe told it."),
                        .required("revision", .count, "A revision of that life."),
                    ]),
                    "Refuse the document if the layer has changed after this revision; without a layer: if the edits of "
                        + "its nodes have."),
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
                on: "the node `at` and all below it, or on the whole tree if the document declares something; "
                    + "the mode replace needs *read* "
                    + "on the whole tree, too, and so does a document that reads the environment")
        ) { (given) throws(Failure) in
            let (layer, mode) = (given.text(.layer), given.text(.mode).flatMap(Request.ApplyMode.init))
            let condition = given[.if].flatMap(Request.Position.init)
            guard layer == nil || mode == nil else {
                throw Failure(
                    .invalid, "apply: a layer takes no mode", hint: "the document is all that the layer says")
            }
            var apply = Request.Apply(
                document: given.value(.document), at: given.text(.at) ?? "/",
                mode: layer == nil ? mode ?? .create : .merge, dryRun: given.flag(.dryRun),
                options: given.transactionOptions())
            (apply.layer, apply.condition) = (layer, condition)
            return .apply(apply)
        }
    }

    static var remove: Method {
        Method(
            name: "remove", summary: "Removes a node with its attributes, children, subscriptions and animations.",
            parameters: [
                path("The path of a node."),
                .optional(.layer, .string, "Withdraws the layer of this name at the node, instead of the node."),
            ] + transactionOptions, result: revisionOnly,
            errors: [.notFound, .invalid, .conflict, .limit, .denied],
            need: Need(.define, on: "the node and all below it")
        ) { (given) throws(Failure) in
            guard let layer = given.text(.layer) else {
                return .remove(path: given.path(), given.transactionOptions())
            }
            return .withdraw(layer: layer, at: given.path(), given.transactionOptions())
        }
    }

    static var restore: Method {
        Method(
            name: "restore", summary: "Brings back a node of a scene that a client has removed or moved.",
            parameters: [path("The path that the node had.")] + transactionOptions, result: revisionOnly,
            errors: [.notFound, .invalid, .conflict, .limit, .denied],
            need: Need(.define, on: "the node and all below it")
        ) { (given) throws(Failure) in
            .restore(path: given.path(), given.transactionOptions())
        }
    }

    static var move: Method {
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
                path: given.path(), to: given.text(.to), index: given.int(.index).map { Int($0) },
                given.transactionOptions())
        }
    }
}
