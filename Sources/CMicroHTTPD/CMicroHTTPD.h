#if !__has_include(<microhttpd.h>)
#error "agd-gateway needs GNU libmicrohttpd: run Scripts/dependencies, or apt-get install libmicrohttpd-dev"
#endif
#include <microhttpd.h>

// Swift cannot call functions with a variable number of arguments, and does not see macros with casts.

struct agd_http_callbacks {
    /// Returns what `step` and `completed` get as `*request`.
    void *(*begin)(void *server, const char *uri, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback step;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
};

/// A server without threads and without a listening socket.
/// @param memory bytes for each connection: its request's head, and the beginning of its answer
static inline struct MHD_Daemon *agd_http_start(
    const struct agd_http_callbacks *callbacks, void *server, unsigned int connections, size_t memory) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, callbacks->step, server,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks->begin, server,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection, server,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_END);
}

static inline int agd_http_epoll(struct MHD_Daemon *daemon) {
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static inline int agd_http_descriptor(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// What the callback `connection` has stored for the connection.
static inline void *agd_http_context(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static const ssize_t agd_http_end = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t agd_http_failure = MHD_CONTENT_READER_END_WITH_ERROR;
static const uint64_t agd_http_unknown_size = MHD_SIZE_UNKNOWN;
