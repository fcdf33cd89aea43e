#if !__has_include(<curl/curl.h>)
#error "agd-bridge needs libcurl: run Scripts/dependencies, or apt-get install libcurl4-openssl-dev"
#endif
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift cannot call functions with a variable number of arguments.

static inline CURLcode agd_curl_set(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode agd_curl_set_text(CURL *curl, CURLoption option, const char *text) {
    return curl_easy_setopt(curl, option, text);
}

static inline CURLcode agd_curl_set_pointer(CURL *curl, CURLoption option, void *pointer) {
    return curl_easy_setopt(curl, option, pointer);
}

static inline CURLcode agd_curl_set_write(CURL *curl, size_t (*write)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, write);
}

/// The status of the last answer; 0 if there was none.
static inline long agd_curl_status(CURL *curl) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/// What was set with CURLOPT_PRIVATE.
static inline void *agd_curl_owner(CURL *curl) {
    char *owner = 0;
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &owner);
    return owner;
}

/// The next transfer that has ended; NULL if there is none.
static inline CURL *agd_curl_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (!message || message->msg != CURLMSG_DONE) return 0;
    *result = message->data.result;
    return message->easy_handle;
}
