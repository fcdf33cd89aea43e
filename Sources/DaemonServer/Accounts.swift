import Glibc

/// Users and groups by their names.
struct Accounts {
    var user: (String) -> UInt32?
    var group: (String) -> UInt32?

    /// As this machine knows them (nsswitch.conf). Asking may take a while: it is done when a configuration is read,
    /// never for a client.
    static var system: Accounts {
        Accounts(user: { getpwnam($0)?.pointee.pw_uid }, group: { getgrnam($0)?.pointee.gr_gid })
    }
}
