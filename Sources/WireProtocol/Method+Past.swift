import AttributeValues

// What agd-past alone answers. agd itself knows no past.

extension Method {
    static var log: Method {
        Method(
            name: "log",
            summary: "Transactions of the archive, the newest first. agd-past answers it.",
            parameters: [
                .optional(
                    .paths, .array(.string), "Paths and patterns; a node stands for all below it. Everything without."),
                .optional(.from, .any, "Not before this moment: RFC 3339, a revision, or {revision, epoch}."),
                .optional(.to, .any, "Not after this moment."),
                .optional(
                    .by, .string, "The name of a client or a principal, or the number of a user; agd for the daemon."),
                .optional(.label, .string, "A part of the label."),
                .optional(.count, .count, default: 100, "So many at most, up to 10,000."),
                .optional(
                    .brief, .bool, default: false,
                    "Tell the number of changes of each transaction in place of the changes."),
                .optional(
                    .structure, .bool, default: false, "Only those that changed the tree or declarations."),
            ],
            result: .object([
                .required(
                    "transactions", .array(.map(.any)), "The transactions that changed something that was asked for."),
                .required("more", .bool, "True if older ones match too."),
                .optional("begins", .string, "When the archive begins, RFC 3339."),
                .required(
                    "gaps", gaps,
                    "Where nothing is known between the transactions, the newest first. "
                        + "Only for clients that may read everything."),
            ]),
            errors: [.invalid, .denied, .limit, .unavailable], need: Need(.read, on: "some path")
        ) { (given) throws(Failure) in
            .log(
                Request.Log(
                    patterns: given.texts(.paths) ?? [], from: try given.moment(.from), to: try given.moment(.to),
                    by: given.text(.by), label: given.text(.label),
                    count: given.int(.count).map { Int(clamping: $0) }, isBrief: given.flag(.brief),
                    structure: given.flag(.structure)))
        }
    }

    static var series: Method {
        let numbers = Shape.array(.any)
        return Method(
            name: "series",
            summary: "What attributes, or a rule, were over a time, in stretches of equal length. agd-past answers it.",
            parameters: [
                .required(.from, .any, "The beginning: RFC 3339, a revision, or {revision, epoch}."),
                .optional(.paths, .array(.string), "Paths and patterns. Either these or expression."),
                .optional(.expression, .string, "A rule in CEL, which need not have existed then."),
                .optional(.at, .string, default: "/", "The node in whose scope the rule is, when it is there."),
                .optional(.to, .any, "The end; now when left out."),
                .optional(
                    .points, .count, default: .int(Int64(Request.Series.standardPoints)),
                    "So many stretches, up to 2,000."),
                .optional(.changes, .bool, default: false, "True to get each change with its time, too."),
                .optional(.typed, .bool, default: false, "The values of the answer are typed JSON."),
            ],
            result: .object([
                .required("from", .string, "The beginning, RFC 3339."),
                .required("to", .string, "The end, RFC 3339."),
                .required("step", .number, "Seconds of each stretch."),
                .required(
                    "gaps", gaps, "Where nothing is known, because the daemon was down or the archive begins later."),
                .optional(
                    "recordedBy", .string,
                    "The first release that recorded a part of it, if agd-past is of another one."),
                .required(
                    "exact", .bool,
                    "False if a state was written more than ten times a second: then parts of its writes are known."),
                .required(
                    "series",
                    .array(
                        .object([
                            .optional("path", .string, "The attribute."),
                            .optional("expression", .string, "The rule."),
                            .optional("at", .string, "The node of the rule."),
                            .required("least", numbers, "The least number in each stretch; null without one."),
                            .required("greatest", numbers, "The greatest number in each stretch."),
                            .required("average", numbers, "The average over the time with a number in each stretch."),
                            .required("last", numbers, "The last value in each stretch, of any type."),
                            .required("changes", .array(.count), "How often the value changed in each stretch."),
                            .optional("error", .object(failure), "The last error, if there was one."),
                            .optional(
                                "steps",
                                .array(
                                    .object([
                                        .required("time", .string, "RFC 3339."),
                                        .optional("value", .any, "The value from then on."),
                                        .optional("error", .string, "The code of the error from then on."),
                                    ])), "Each change; neither value nor error: it was not there, or nothing is known."),
                            .optional("more", .bool, "True if there were more than 10,000 steps."),
                        ])), "A series for each attribute, or the one of the rule."),
            ]),
            errors: [.notFound, .invalid, .denied, .limit, .ruleSyntax, .ruleType, .unavailable],
            need: Need(.read, on: "the paths, or the node of the rule and all below it")
        ) { (given) throws(Failure) in
            let subject: Request.Series.Subject
            switch (given.texts(.paths), given.text(.expression)) {
            case (let paths?, nil) where !paths.isEmpty && given.text(.at) == nil: subject = .attributes(paths)
            case (nil, let expression?): subject = .rule(expression, at: given.text(.at) ?? "/")
            default:
                throw Failure(.invalid, "series: give either paths, or a rule as expression, with its node as at")
            }
            guard let from = try given.moment(.from) else { throw Failure(.invalid, "series: from is null") }
            let points = given.int(.points) ?? Int64(Request.Series.standardPoints)
            guard (1...Int64(Request.Series.mostPoints)).contains(points) else {
                throw Failure(.limit, "series: points is a number from 1 to \(Request.Series.mostPoints)")
            }
            return .series(
                Request.Series(
                    subject, from: from, to: try given.moment(.to), points: Int(points),
                    changes: given.flag(.changes), typed: given.flag(.typed)))
        }
    }

    private static var gaps: Shape {
        .array(
            .object([
                .required("from", .string, "When the records end."), .required("to", .string, "When they go on."),
            ]))
    }

    /// Values are computed by the rules of the release that shows them.
    static var recordedBy: Field {
        .optional("recordedBy", .string, "The release that recorded the moment, if agd-past is of another one.")
    }

    static var seek: Method {
        Method(
            name: "seek", summary: "Goes to another moment. Subscriptions begin again there. agd-past answers it.",
            parameters: [.required(.time, .any, "RFC 3339, a revision, or {revision, epoch}.")],
            result: .object([
                .required("epoch", .string, "The life of the graph."), revision,
                .required("time", .string, "When the last transaction before the moment was, RFC 3339."),
                recordedBy,
            ]),
            errors: [.notFound, .invalid, .denied, .unavailable], need: Need(.read, on: "some path")
        ) { (given) throws(Failure) in
            guard let time = try given.moment(.time) else { throw Failure(.invalid, "seek: time is null") }
            return .seek(time)
        }
    }

    static var play: Method {
        Method(
            name: "play",
            summary: "Follows the records from the present moment of the connection on. agd-past answers it.",
            parameters: [
                .optional(.speed, .number, default: 1, "So many times as fast as it was, up to 1,000; 0 stops.")
            ],
            result: .object([
                .required("epoch", .string, "The life of the graph."), revision,
                .required("time", .string, "When the last transaction before the moment was, RFC 3339."),
                recordedBy,
            ]),
            errors: [.invalid, .denied, .unavailable], need: Need(.read, on: "some path")
        ) { (given) throws(Failure) in
            let speed = given[.speed]?.number ?? 1
            guard speed >= 0, speed <= 1000 else { throw Failure(.invalid, "play: speed is a number from 0 to 1000") }
            return .play(speed: speed)
        }
    }
}
