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
                    .structure, .bool, default: false, "Only those that changed the tree or declarations."),
            ],
            result: .object([
                .required(
                    "transactions", .array(.map(.any)), "The transactions that changed something that was asked for."),
                .required("more", .bool, "True if older ones match too."),
            ]),
            errors: [.invalid, .denied, .limit, .unavailable], need: Need(.read, on: "some path")
        ) { (given) throws(Failure) in
            .log(
                Request.Log(
                    patterns: given.texts(.paths) ?? [], from: try given.moment(.from), to: try given.moment(.to),
                    by: given.text(.by), label: given.text(.label),
                    count: given.int(.count).map { Int(clamping: $0) }, structure: given.flag(.structure)))
        }
    }

    static var seek: Method {
        Method(
            name: "seek", summary: "Goes to another moment. Subscriptions begin again there. agd-past answers it.",
            parameters: [.required(.time, .any, "RFC 3339, a revision, or {revision, epoch}.")],
            result: .object([
                .required("epoch", .string, "The life of the graph."), revision,
                .required("time", .string, "When the last transaction before the moment was, RFC 3339."),
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
            ]),
            errors: [.invalid, .denied, .unavailable], need: Need(.read, on: "some path")
        ) { (given) throws(Failure) in
            let speed = given[.speed]?.number ?? 1
            guard speed >= 0, speed <= 1000 else { throw Failure(.invalid, "play: speed is a number from 0 to 1000") }
            return .play(speed: speed)
        }
    }
}
