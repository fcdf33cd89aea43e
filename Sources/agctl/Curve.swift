import AttributeValues
import CommandArguments
import Glibc
import Timelines

struct CurveCommand: Verb {
    static let help = VerbHelp(
        name: "curve", summary: "Draw or compute an animation, without a daemon.",
        discussion: """
            The animation is written as for set --animation: as in Swift, or as JSON. agctl draws it on a terminal, \
            and prints samples in a pipe.

            Samples are a JSON array with a line for each time: {"t": seconds, "value": …, "velocity": units per \
            second}, every number with 17 significant digits, a velocity null where the curve is vertical. They follow \
            the formulas, also where a spring has settled and a daemon shows its target. Without --at there are about \
            a hundred, until it has settled.

            Examples:
              agctl curve bouncy
              agctl curve 'spring(duration: 0.5, bounce: 0.3)' --json --at 0,0.1,0.5
              agctl curve 'easeIn(duration: 1).delay(0.2)' --from 10 --svg curve.svg
              agctl curve bouncy --velocity 8 --css
              agctl curve bouncy --retarget at=0.1,to=2 --retarget at=0.3,to=0 --plot
              agctl curve bouncy --retarget at=0.1,to=2,curve=smooth,mode=chain
              agctl curve '{"curve": {"easeIn": {"duration": 1}}}'
            """)

    @Argument(help: "The animation.", completion: Suggestions.curves)
    var animation: String

    @Flag(help: "Draw it with characters (the default on a terminal).")
    var plot = false

    @Option(help: ArgumentHelp("Draw it into a file, - for standard output.", valueName: "file"), completion: .files)
    var svg: String?

    @Flag(help: "Print the easing that plays it in a browser, with its duration, as JSON.")
    var css = false

    @Flag(help: "Print samples (the default in a pipe).")
    var json = false

    @Option(help: ArgumentHelp("Times of samples in seconds, none below 0, as 0,0.1,0.5.", valueName: "times"))
    var at: Times?

    @Option(help: ArgumentHelp("The value at the start.", valueName: "number"))
    var from = Number(0)

    @Option(help: ArgumentHelp("The value at the end.", valueName: "number"))
    var to = Number(1)

    @Option(help: ArgumentHelp("The velocity at time 0, in units per second.", valueName: "number"))
    var velocity = Number(0)

    @Option(
        help: ArgumentHelp(
            "A change during the motion, as 'at=0.1,to=2,curve=smooth,mode=chain'; curve and mode may be left out. "
                + "May be repeated.", valueName: "change")) var retarget: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The mode of changes that name none: merge continues value and velocity, additive adds the difference to \
            the old motion, chain starts from the old motion's current value.
            """, valueName: "mode"))
    var mode = Timeline.Retargeting.merge

    @OptionGroup var coloring: ColorOption

    func validate() throws(UsageError) {
        let drawn = [plot ? "--plot" : nil, svg.map { _ in "--svg" }, css ? "--css" : nil].compactMap(\.self)
        if drawn.count > 1 { throw UsageError("\(drawn[0]) and \(drawn[1]) contradict each other") }
        // --css prints JSON anyway, so --json does not contradict it.
        guard let form = drawn.first(where: { $0 != "--css" || at != nil }) else { return }
        if json { throw UsageError("\(form) and --json contradict each other") }
        if at != nil { throw UsageError("--at goes with --json, not with \(form)") }
    }

    func run() throws {
        let output = Output(color: coloring.color)
        let trajectory = try trajectory()
        if let svg, svg != "-" {
            try CurveCommand.write(trajectory.svg(title: title), to: svg)
        } else {
            output.write(try text(of: trajectory, columns: output.isTerminal ? Terminal.size.columns : nil))
        }
        try output.flush()
    }

    /// The output.
    /// - Parameter columns: the width of the terminal, if the output is one.
    func text(of trajectory: Trajectory, columns: Int?) throws(Complaint) -> String {
        if svg != nil { return trajectory.svg(title: title) }
        if css {
            guard let css = trajectory.css else {
                throw Complaint(
                    .data, "no browser can play this",
                    hint: "an easing ends, changes its value, and has at most \(LinearEasing.maximumStops) stops")
            }
            return css.json.jsonText + "\n"
        }
        if plot || (columns != nil && !json && at == nil) {
            // Labels beside the drawing take up to ten columns.
            return trajectory.plot(width: min(60, (columns ?? 80) - 12))
        }
        return trajectory.json(at: at?.seconds ?? trajectory.grid)
    }

    func trajectory() throws(Complaint) -> Trajectory {
        let first: Animation
        do throws(AnimationError) { first = try Animation(written: animation) } catch {
            throw Complaint(error, in: animation)
        }
        var trajectory = Trajectory(from: from.value, to: to.value, velocity: velocity.value, animation: first)
        var changes: [Trajectory.Change] = []
        for text in retarget {
            do throws(AnimationError) { changes.append(try Trajectory.Change(text, mode: mode)) } catch {
                throw Complaint(error, in: text)
            }
        }
        // Changes at the same time keep the order in which they were given.
        for (_, change) in changes.enumerated().sorted(by: {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }) {
            trajectory.retarget(change)
        }
        return trajectory
    }

    private var title: String { ([animation] + retarget).joined(separator: "; ") }

    private static func write(_ text: String, to file: String) throws(Complaint) {
        func failed() -> Complaint { Complaint(.inputOutput, "\(file): \(String(cString: strerror(errno)))") }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failed() }
        guard Terminal.write(text, to: descriptor) else {
            let complaint = failed()
            close(descriptor)
            throw complaint
        }
        // A full disk may be reported only here.
        guard close(descriptor) == 0 else { throw failed() }
    }
}

extension CurveCommand {
    /// A finite number from the command line.
    struct Number: ArgumentValue, CustomStringConvertible {
        var value: Double

        static let expected: String? = "a finite number"

        init(_ value: Double) { self.value = value }

        init?(argument: String) {
            guard let value = Double(argument), value.isFinite else { return nil }
            self.value = value
        }

        var description: String { text17(value) }
    }

    /// Times from the command line: at least one, none before 0.
    struct Times: ArgumentValue {
        var seconds: [Double]

        static let expected: String? = "seconds from 0, with commas between"

        init?(argument: String) {
            seconds = []
            for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
                guard let time = Double(part.filter { $0 != " " }), time >= 0, time.isFinite else { return nil }
                seconds.append(time)
            }
        }
    }
}

extension Timeline.Retargeting: ArgumentValue {}

extension Complaint {
    /// A refused animation, with its position in the user's input.
    fileprivate init(_ error: AnimationError, in text: String) {
        var message = error.message
        if let pointer = error.pointer, !pointer.isEmpty { message += " (at \(pointer))" }
        self.init(.data, message, hint: error.hint)
        guard let offset = error.offset else { return }
        let before = String(decoding: text.utf8.prefix(offset), as: UTF8.self).lines
        rule = (text, before.count, (before.last?.unicodeScalars.count ?? 0) + 1)
    }
}
