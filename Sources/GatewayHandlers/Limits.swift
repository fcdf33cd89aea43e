/// The gateway's limits. `Documentation/Dashboard.md` explains them.
package enum Limits {
    // MARK: Memory

    /// Bytes of bodies, answers, streams and batches together. The unit allows 512 MiB; the library's blocks for
    /// connections, one parsed body and the program itself need the rest.
    package static let memory = 256 << 20
    /// Bytes of one principal, and of one peer.
    package static let memoryShare = 192 << 20
    /// Bytes of a request, a stream or a subscription that do not count, so that small ones are answered when large
    /// ones have taken all.
    package static let free = 8 << 10
    package static let freeOfSubscription = 2 << 10
    /// Bytes of a request's body.
    package static let body = 16 << 20
    /// Bytes of a body without a token: that of the form.
    package static let formBody = 4 << 10
    /// Values in a body, with the keys of objects. A parsed value takes up to 100 bytes.
    package static let bodyValues = 100_000
    /// Bytes of a request to the daemon, which is the body in the daemon's form. It is the daemon's default.
    package static let message = 16 << 20
    /// Bytes of one message of the daemon.
    package static let answer = 32 << 20
    /// Bytes of a connection for a request's head and the beginning of the answer.
    package static let head = 24 << 10
    /// Bytes in the kernel for a connection, in each direction. The kernel doubles them.
    package static let socketBuffer: Int32 = 16 << 10
    /// Bytes that a stream takes: the library's block, the kernel's buffer, and what may wait.
    package static let stream = 64 << 10
    /// Bytes that may wait in a stream without being charged once more, so that small events go through when other
    /// streams have taken all.
    package static let slack = 16 << 10
    /// Bytes that compression adds to a stream.
    package static let packedStream = 48 << 10
    /// The memory of a stored change, as a multiple of its JSON.
    package static let storedFactor = 3

    // MARK: Time, in seconds

    /// From connecting to the end of the first request's head.
    package static let headTime = 10.0
    /// From one answer to the end of the next request's head.
    package static let idleTime = 60.0
    /// A body and an answer may take so long, and one more second for each `slowest` bytes.
    package static let transferTime = 10.0
    /// Bytes a second.
    package static let slowest = 16.0 * 1024
    /// A stream whose client has read nothing for so long is closed, if something waits for the client.
    package static let stallTime = 30.0

    /// A connection to agd-past that has been asked nothing for so long ends.
    package static let pastTime = 60.0

    // MARK: Numbers

    package static let connections = 4096
    package static let connectionsOfPeer = 3500
    /// Connections of a peer without a complete request. The library's round takes some 80 µs for each that sends bits.
    package static let unfinishedOfPeer = 256
    /// So many of these connections, those that have waited longest, are closed when there is no space for a new one.
    package static let evicted = 64
    package static let streams = 2500
    /// Streams of one principal, and of one peer.
    package static let streamShare = 2000
    /// Subscriptions of a principal at the daemon. It is the daemon's default for a client.
    package static let subscriptions = 1000
    /// Maximum number of subscriptions that the pages of one peer have made.
    package static let subscriptionsOfPeer = 750
    /// Subscriptions of one page.
    package static let subscriptionsOfPage = 256
    /// Connections to agd-past, which serves 16 by itself: some are left for others.
    package static let pasts = 12
    /// Connections to agd-past of one principal, and of one peer.
    package static let pastShare = 8
    /// Bytes of the name that a page has given itself.
    package static let pageName = 64
    /// Calls in a batch.
    package static let batch = 256
}
