import AGClient
import CommandArguments
import WireProtocol

/// The way from arguments to an exit status.
enum Front {
    static func run() -> Int32 {
        do throws(ProgramWords.Fault) { return run(try ProgramWords.read()) } catch {
            switch error {
            case .missing: return Complaint(.system, error.message).report(ErrorForm())
            case .encoding(let before, _): return Complaint(.data, error.message).report(ErrorForm(asked: before))
            }
        }
    }

    static func run(_ arguments: [String]) -> Int32 {
        let form = ErrorForm(asked: arguments)
        do {
            try StandardDescriptors.fill()
            if arguments.first == "---complete" {
                return tell(Offer.text(for: Array(arguments.dropFirst()), of: Agctl.self))
            }
            try Agctl.readCommand(arguments).run()
        } catch let request as TextRequest {
            switch request {
            case .help(let verb): return tell(HelpText(of: Agctl.self, width: width).text(for: verb))
            case .version: return tell(Release.version + "\n")
            case .data: return tell(HelpText(of: Agctl.self).json.jsonText + "\n")
            }
        } catch let fault as StandardDescriptors.Fault {
            return Complaint(.system, fault.message).report(form)
        } catch let end as EndOfCommand { return end.code } catch let error as ClientError {
            return Complaint(error).report(form)
        } catch let error as UsageError {
            return Complaint(.usage, error.message, hint: error.hint).report(form)
        } catch { return (error as? Complaint ?? Complaint(.software, "\(error)")).report(form) }
        return ExitStatus.done.rawValue
    }

    static func tell(_ text: String) -> Int32 {
        let isWritten = Terminal.write(text, to: .standardOutput)
        return isWritten ? ExitStatus.done.rawValue : ExitStatus.inputOutput.rawValue
    }

    /// The columns of the terminal. `COLUMNS` takes precedence.
    private static var width: Int {
        Contexts.variable("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? Terminal.size.columns
    }
}
