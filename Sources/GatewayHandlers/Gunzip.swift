import AttributeValues
import CZlib

/// Reads the format gzip.
enum Gunzip {
    /// - Parameter limit: bytes of the result. A small body may stand for a very large one.
    /// - Throws: `invalid` if it is another format or not complete, `limit`.
    static func whole(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        // 16 more bits of the window mean gzip.
        guard inflateInit2_(&stream, 16 + 15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Failure(.limit, "there is no memory to unpack the body")
        }
        defer { inflateEnd(&stream) }
        let code = bytes.withUnsafeBufferPointer { input -> (code: Int32, output: [UInt8]) in
            // zlib reads the input only during this call, and declares it as mutable for no reason.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            var output: [UInt8] = []
            var code = Z_OK
            let space = 64 << 10
            while code == Z_OK, output.count <= limit {
                output += Array(unsafeUninitializedCapacity: space) { part, count in
                    stream.next_out = part.baseAddress
                    stream.avail_out = UInt32(space)
                    code = inflate(&stream, Z_NO_FLUSH)
                    count = space - Int(stream.avail_out)
                }
            }
            return (code, output)
        }
        guard code.output.count <= limit else {
            throw Failure(.limit, "an unpacked body has at most \(limit) bytes", hint: "send it in parts")
        }
        guard code.code == Z_STREAM_END else { throw Failure(.invalid, "the body is not in the format gzip") }
        return code.output
    }
}
