import AttributeValues

// Reading and writing values.

extension Method {
    static var get: Method {
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
                content + [.optional("values", .map(.object(content)), "By path, when asked with paths."), revision]),
            errors: [.notFound, .invalid, .denied, .limit], need: Need(.read, on: "each path")
        ) { (given) throws(Failure) in
            let options = (given.flag(.presentation), given.flag(.typed))
            switch (given[.path], given.texts(.paths)) {
            case (_?, nil): return .get(.init(targets: [given.target()], isSingle: true, options.0, options.1))
            case (nil, let paths?):
                return .get(.init(paths: paths, isSingle: false, presentation: options.0, typed: options.1))
            default: throw Failure(.invalid, "get: exactly one of \"path\" and \"paths\" is needed")
            }
        }
    }

    static var set: Method {
        Method(
            name: "set", summary: "Writes one value, as a transaction of its own.",
            parameters: [path(), .required(.value, .any, "The new value.")] + writeOptions,
            result: written, errors: writeErrors + [.conflict, .stale, .ruleFailed, .cycle],
            need: Need(.write, on: "the path")
        ) { (given) throws(Failure) in
            .set(Mutation(operation: .set, target: given.target(), value: given.value(.value)), given.writeOptions())
        }
    }

    static var transact: Method {
        Method(
            name: "transact", summary: "Commits mutations together, all or none, as one revision.",
            parameters: [mutations] + writeOptions + [motions], result: written,
            errors: writeErrors + [.stale, .conflict, .ruleFailed, .cycle], need: Need(.write, on: "each path")
        ) { (given) throws(Failure) in
            .transact(try given.mutations(), given.transactOptions())
        }
    }

    static var `do`: Method {
        Method(
            name: "do",
            summary: "Calls an action of a node: what it writes is committed together, all or none, as one revision.",
            parameters: [
                path("The path of the action, as /home.allOff."),
                .optional(
                    .arguments, .map(.any), "The action's parameters by name; those with a default may be left out."),
            ] + writeOptions, result: written,
            errors: writeErrors + [.stale, .conflict, .ruleFailed, .cycle], need: Need(.do, on: "the path")
        ) { (given) throws(Failure) in
            .do(path: given.target(), arguments: given.value(.arguments).map ?? ValueMap(), given.writeOptions())
        }
    }

    static var onDisconnect: Method {
        Method(
            name: "onDisconnect",
            summary:
                "Adds mutations that the daemon commits when this client's connection ends, after those given before.",
            parameters: [mutations] + transactionOptions + [typed], result: revisionOnly,
            errors: writeErrors + [.conflict], need: Need(.write, on: "each path")
        ) { (given) throws(Failure) in
            .onDisconnect(try given.mutations(), given.transactionOptions(isTyped: given.flag(.typed)))
        }
    }

    // Writes that another client performs.

    static var delegate: Method {
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

    static var answer: Method {
        Method(
            name: "answer", summary: "Answers the request of a forward event.",
            parameters: [
                .required(.forward, .count, "The number of the request."),
                .optional(.result, .map(.any), "The result of the request."),
                .optional(.error, .object(failure), "Why the request was refused, instead of the result."),
            ],
            result: revisionOnly, errors: [.notFound, .invalid]
        ) { (given) throws(Failure) in
            .answer(
                forward: given.int(.forward) ?? 0, result: given[.result]?.value,
                error: given[.error]?.value.map.map { Failure($0) })
        }
    }
}
