import Glibc

// The status is the only thing left to say: everything else has been written.
exit(Front.run(CommandLine.unsafeArgv))
