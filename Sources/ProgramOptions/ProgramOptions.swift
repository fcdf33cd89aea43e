import CArgp
import Glibc

/// An option of a program.
public struct ProgramOption: Sendable {
    let name: String
    /// The placeholder of its value in the help; nil if the option has none.
    let value: String?
    let help: String
    /// The help does not show it.
    let isHidden: Bool

    /// `--socket=path`, or `--socket path`.
    public static func value(_ name: String, _ value: String, _ help: String, isHidden: Bool = false) -> ProgramOption {
        ProgramOption(name: name, value: value, help: help, isHidden: isHidden)
    }

    /// `--recover`
    public static func flag(_ name: String, _ help: String) -> ProgramOption {
        ProgramOption(name: name, value: nil, help: help, isHidden: false)
    }
}

/// The command line of a program that has options and no verbs.
///
/// The C library's argp(3) reads it, writes `--help`, and ends the program with 64 if an option is wrong.
public struct ProgramOptions: Sendable {
    let program: String
    let version: String
    /// The sentence before the options in the help, and the text behind them. A paragraph is one line, which the help
    /// breaks; lines that begin with spaces stay.
    let summary: String
    let discussion: String
    let options: [ProgramOption]

    public init(program: String, version: String, summary: String, discussion: String, _ options: [ProgramOption]) {
        self.program = program
        self.version = version
        self.summary = summary
        self.discussion = discussion
        self.options = options + [.flag("version", "Show the version."), .flag("help", "Show this help.")]
    }

    /// The options given, in their order. After `--help` and `--version` the program ends.
    public func read() -> [(name: String, value: String)] {
        // argp points into these texts as long as the program runs.
        var table = options.enumerated().map { number, option in
            argp_option(
                name: strdup(option.name),
                key: option.name == "help" ? Int32(UInt8(ascii: "h")) : firstKey + Int32(number),
                arg: option.value.map { strdup($0) } ?? nil, flags: option.isHidden ? OPTION_HIDDEN : 0,
                doc: strdup(option.help), group: option.name == "help" || option.name == "version" ? -1 : 0)
        }
        table.append(argp_option())
        let given = Given()
        let code = withExtendedLifetime(given) {
            table.withUnsafeBufferPointer { table in
                var parser = argp()
                parser.options = table.baseAddress
                parser.doc = UnsafePointer(strdup("\(summary)\u{b}\(discussion)"))
                parser.parser = { key, argument, state in
                    guard let state, let input = state.pointee.input else { return EINVAL }
                    if key == Int32(UInt8(ascii: "h")) {
                        let parts = ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_EXIT_OK
                        argp_state_help(state, state.pointee.out_stream, UInt32(parts))
                    }
                    let given = Unmanaged<Given>.fromOpaque(input).takeUnretainedValue()
                    let text = argument.map { String(cString: $0) } ?? ""
                    switch key {
                    case Int32(ARGP_KEY_ARG): given.stray = given.stray ?? text
                    case firstKey..<1 << 20: given.options.append((Int(key - firstKey), text))
                    default: return E2BIG
                    }
                    return 0
                }
                return argp_parse(
                    &parser, CommandLine.argc, CommandLine.unsafeArgv, UInt32(ARGP_NO_HELP), nil,
                    Unmanaged.passUnretained(given).toOpaque())
            }
        }
        guard code == 0 else { refuse(String(cString: strerror(code))) }
        if let stray = given.stray { refuse("'\(stray)' is no option, and there are no other arguments") }
        return given.options.map { number, value in
            if options[number].name == "version" {
                print(version)
                exit(0)
            }
            return (options[number].name, value)
        }
    }

    /// Ends the program, because of how an option is used.
    public func refuse(_ message: String) -> Never {
        report("\(message)\nTry `\(program) --help' for more information.")
        exit(64)
    }

    /// Writes a message for the person who started the program.
    public func report(_ message: String) {
        var line = "\(program): \(message)\n"
        // If writing fails, nobody can be told.
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The key of the first option, above the characters of short options.
private let firstKey: Int32 = 256

private final class Given {
    var options: [(Int, String)] = []
    /// The first argument that is no option.
    var stray: String?
}
