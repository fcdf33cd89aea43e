#if !__has_include(<nats/nats.h>)
#error "agd-link needs the client library of NATS: run Scripts/dependencies, or apt-get install libnats-dev"
#endif
#include <nats/nats.h>
