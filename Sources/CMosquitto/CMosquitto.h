#if !__has_include(<mosquitto.h>)
#error "agd-bridge needs the client library of mosquitto: run Scripts/dependencies, or apt-get install libmosquitto-dev"
#endif
#include <mosquitto.h>
