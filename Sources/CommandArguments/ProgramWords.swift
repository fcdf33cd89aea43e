import CArguments
import Glibc

/// The words behind the program's name, as the system passes them.
package enum ProgramWords {
    package enum Fault: Error {
        /// The program does not know what it was asked to do, so it must not do anything.
        case missing
        /// - Parameters:
        ///   - before: the words before this one.
        ///   - shown: the word with the faulty bytes replaced.
        case encoding(before: [String], shown: String)

        package var message: String {
            switch self {
            case .missing: "the system has passed no arguments to this program"
            case .encoding(let before, let shown): "argument \(before.count + 1) is not UTF-8: \(shown)"
            }
        }
    }

    package static func read() throws(Fault) -> [String] { try read(arguments_of_main()) }

    /// - Parameter words: the program's name, the words, nil.
    package static func read(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) throws(Fault) -> [String] {
        guard var next = words, next.pointee != nil else { throw .missing }
        var read: [String] = []
        // The name may have any form, because nobody reads it.
        next += 1
        while let word = next.pointee {
            guard let text = String(validatingCString: word) else {
                throw .encoding(before: read, shown: String(cString: word))
            }
            read.append(text)
            next += 1
        }
        return read
    }
}
