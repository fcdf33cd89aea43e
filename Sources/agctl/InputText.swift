import AttributeValues
import Glibc

enum InputText {
    /// The name of a file in messages.
    static func title(of name: String) -> String { name == "-" ? "standard input" : name }

    /// - Parameter name: a file, or `-` for standard input.
    /// - Throws: `notFound` for a file that cannot be opened, `inputOutput`, and `data` for text that is not UTF-8.
    static func read(_ name: String) throws(Complaint) -> String {
        do throws(TextFile.Fault) { return try name == "-" ? TextFile.read(STDIN_FILENO) : TextFile.read(name) } catch {
            switch error {
            case .system(let call, let number):
                throw Complaint(
                    call == "open" ? .notFound : .inputOutput,
                    "\(title(of: name)): \(String(cString: strerror(number)))")
            case .encoding(let fault): throw Complaint(.data, fault.described(in: title(of: name)))
            }
        }
    }
}
