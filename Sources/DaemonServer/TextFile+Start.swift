import AttributeValues
import EventLoop

extension TextFile {
    /// Reads a file that the daemon starts with.
    /// - Throws: `noInput` for a file that cannot be read, `dataError` for one that is not UTF-8.
    static func forStart(_ path: String) throws(StartupError) -> String {
        do throws(Fault) { return try read(path) } catch {
            switch error {
            case .system(let call, let number):
                throw StartupError(.noInput, LoopError(call: call, number: number, subject: path).description)
            case .encoding(let fault): throw StartupError(.dataError, fault.described(in: path))
            }
        }
    }
}
