import Glibc

// Everything else has been written. Only the status remains.
exit(Front.run())
