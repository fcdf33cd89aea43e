#include <argp.h>
