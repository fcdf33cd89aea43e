import Glibc

/// Numbers as `printf` of the C library writes them.
package func formatted(_ format: String, _ arguments: any CVarArg...) -> String {
    let length = withVaList(arguments) { Int(vsnprintf(nil, 0, format, $0)) }
    // With a zero at its end.
    return String(unsafeUninitializedCapacity: length + 1) { buffer in
        buffer.withMemoryRebound(to: CChar.self) { text in
            _ = withVaList(arguments) { vsnprintf(text.baseAddress, text.count, format, $0) }
        }
        return length
    }
}
