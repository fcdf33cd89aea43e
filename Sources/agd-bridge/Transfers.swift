import CCurl
import Glibc

/// Transfers over HTTP by libcurl. The wait of its loop is that of the whole program.
final class Transfers {
    private let multi: OpaquePointer
    private var running: Int32 = 0

    init?() {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let made = curl_multi_init() else { return nil }
        multi = OpaquePointer(made)
    }

    deinit { curl_multi_cleanup(UnsafeMutableRawPointer(multi)) }

    fileprivate func begin(_ transfer: Transfer) {
        curl_multi_add_handle(UnsafeMutableRawPointer(multi), transfer.curl)
    }

    fileprivate func end(_ transfer: Transfer) {
        curl_multi_remove_handle(UnsafeMutableRawPointer(multi), transfer.curl)
    }

    /// Does what can be done now.
    func work() {
        let multi = UnsafeMutableRawPointer(multi)
        curl_multi_perform(multi, &running)
        var result = CURLE_OK
        while let curl = agd_curl_ended(multi, &result) {
            guard let owner = agd_curl_owner(curl) else { continue }
            Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue().ended(result)
        }
    }

    /// Waits until something can be read or written.
    func wait(for others: inout [curl_waitfd], seconds: Double) {
        let milliseconds = Int32(min(max(0, (seconds * 1000).rounded(.up)), 60_000))
        curl_multi_poll(UnsafeMutableRawPointer(multi), &others, UInt32(others.count), milliseconds, nil)
    }
}

/// An address that is fetched again and again, over the same connection where the server allows it.
final class Transfer {
    fileprivate let curl: UnsafeMutableRawPointer
    private let transfers: Transfers
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let limit: Int
    private var body: [UInt8] = []
    private var isTooLong = false
    private var failure = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    private let failureText: UnsafeMutablePointer<CChar>
    /// nil while nothing is fetched.
    private var done: ((Result<[UInt8], FetchError>) -> Void)?

    struct FetchError: Error {
        var message: String
    }

    static let userAgent = "agd-bridge"

    /// - Parameters:
    ///   - time: the longest time of a transfer, in seconds.
    ///   - limit: bytes of an answer.
    init?(_ url: String, accepting type: String, time: Double, limit: Int, _ transfers: Transfers) {
        guard let made = curl_easy_init() else { return nil }
        curl = made
        self.transfers = transfers
        self.limit = limit
        headers = curl_slist_append(nil, "Accept: \(type)")
        failureText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        failureText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        agd_curl_set_text(curl, CURLOPT_URL, url)
        agd_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        agd_curl_set_text(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        agd_curl_set_text(curl, CURLOPT_USERAGENT, Transfer.userAgent)
        // All that libcurl can decode.
        agd_curl_set_text(curl, CURLOPT_ACCEPT_ENCODING, "")
        agd_curl_set(curl, CURLOPT_FOLLOWLOCATION, 1)
        agd_curl_set(curl, CURLOPT_MAXREDIRS, 3)
        agd_curl_set(curl, CURLOPT_FAILONERROR, 1)
        agd_curl_set(curl, CURLOPT_NOSIGNAL, 1)
        agd_curl_set(curl, CURLOPT_TCP_KEEPALIVE, 1)
        agd_curl_set(curl, CURLOPT_TIMEOUT_MS, Int(time * 1000))
        agd_curl_set_pointer(curl, CURLOPT_HTTPHEADER, headers)
        agd_curl_set_pointer(curl, CURLOPT_ERRORBUFFER, failureText)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        agd_curl_set_pointer(curl, CURLOPT_PRIVATE, owner)
        agd_curl_set_pointer(curl, CURLOPT_WRITEDATA, owner)
        agd_curl_set_write(curl) { bytes, size, count, owner in
            guard let owner, let bytes else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
            return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
        }
    }

    deinit {
        if done != nil { transfers.end(self) }
        curl_easy_cleanup(curl)
        curl_slist_free_all(headers)
        failureText.deallocate()
    }

    var isRunning: Bool { done != nil }

    func fetch(_ done: @escaping (Result<[UInt8], FetchError>) -> Void) {
        precondition(!isRunning, "one transfer at a time")
        self.done = done
        isTooLong = false
        failureText[0] = 0
        transfers.begin(self)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= limit else {
            isTooLong = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    fileprivate func ended(_ result: CURLcode) {
        transfers.end(self)
        let done = done
        self.done = nil
        let body = body
        self.body = []
        self.body.reserveCapacity(body.count)
        if result == CURLE_OK {
            done?(.success(body))
        } else if isTooLong {
            done?(.failure(FetchError(message: "the answer has more than \(limit) bytes (answer-size)")))
        } else if result == CURLE_HTTP_RETURNED_ERROR {
            done?(.failure(FetchError(message: "the server answers with status \(agd_curl_status(curl))")))
        } else {
            let text = String(cString: failureText)
            done?(.failure(FetchError(message: text.isEmpty ? String(cString: curl_easy_strerror(result)) : text)))
        }
    }
}
