import Glibc

struct Accounts {
    var user: (String) -> UInt32?
    var group: (String) -> UInt32?

    /// The accounts of this machine (nsswitch.conf). A lookup may take long, so it is done only while a configuration
    /// is read, never for a client.
    static var system: Accounts {
        Accounts(user: { getpwnam($0)?.pointee.pw_uid }, group: { getgrnam($0)?.pointee.gr_gid })
    }
}
