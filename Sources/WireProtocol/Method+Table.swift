import AttributeValues

extension Method {
    /// All methods, the most common first. They are searched in this order.
    public static func table() -> [Method] {
        [get, set, transact, subscribe, unsubscribe, `do`, apply, remove, move, onDisconnect, hello, ping, describe]
            + [restore, delegate, answer]
            + [board, explain, history, dump, layers, stats, trace, eval, prune]
            + [log, series, seek, play]
    }

    // Parameters and shapes that several methods share.

    static let pathMeaning = "A path, as /player/playButton.isPlaying or /app.items[0].done."
    static func path(_ meaning: String = pathMeaning) -> Parameter { .required(.path, .string, meaning) }
    static var typed: Parameter {
        .optional(.typed, .bool, default: false, "The values of the request and of the answer are typed JSON.")
    }
    static var animation: Parameter {
        .optional(
            .animation, .objectOrString,
            "How displayed values move to the new ones: text as easeInOut(duration: 1), or its JSON form.")
    }
    static var transactionOptions: [Parameter] {
        [
            animation,
            .optional(
                .disablesAnimations, .bool, default: false,
                "True: the transaction animates nothing, even if a scene or a binding has an animation."),
            .optional(.label, .string, "Shown in events and explanations."),
        ]
    }
    /// Options of requests that write values at once.
    static var writeOptions: [Parameter] {
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
    static var motions: Parameter {
        .optional(
            .motions,
            .array(
                .object([
                    .required("animation", .objectOrString, "As the parameter animation."),
                    .required("mutations", .array(.count), "Positions in the list of mutations, from 0."),
                ])), "How the values of some mutations move. The others move as animation says.")
    }
    static var written: Shape {
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
    static var mutations: Parameter { .required(.mutations, .array(mutation), "Performed in order, all or none.") }
    static var revision: Field { Field.required("revision", .count, "The revision that the answer belongs to.") }
    static var revisionOnly: Shape { Shape.object([revision]) }
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
            .optional("hint", .string, "A suggestion how to correct the request or its cause."),
        ]
    }
    static var writeErrors: [ErrorCode] {
        [.notFound, .typeMismatch, .readOnly, .dangling, .removed, .invalid, .limit, .denied]
    }
}
