#include "CRE2.h"
#include <cstring>
#include <new>
#include <re2/re2.h>
#include <vector>

struct agd_re2 {
    re2::RE2 pattern;
    agd_re2(re2::StringPiece text, const re2::RE2::Options &options) : pattern(text, options) {}
};

agd_re2 *agd_re2_new(const char *pattern, size_t length, int64_t max_memory, char *error, size_t capacity) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(max_memory);
    auto *made = new (std::nothrow) agd_re2(re2::StringPiece(pattern, length), options);
    const char *reason = made ? made->pattern.error().c_str() : "no memory";
    if (made && made->pattern.ok()) return made;
    std::strncpy(error, reason, capacity - 1);
    error[capacity - 1] = 0;
    delete made;
    return nullptr;
}

ptrdiff_t agd_find(const void *text, size_t length, const void *part, size_t part_length) {
    const void *found = memmem(text, length, part, part_length);
    return found ? (const char *)found - (const char *)text : -1;
}

void agd_re2_free(agd_re2 *pattern) { delete pattern; }

int agd_re2_group_count(const agd_re2 *pattern) { return pattern->pattern.NumberOfCapturingGroups(); }

int agd_re2_size(const agd_re2 *pattern) { return pattern->pattern.ProgramSize(); }

int agd_re2_search(const agd_re2 *pattern, const char *text, size_t length) {
    return pattern->pattern.Match(re2::StringPiece(text, length), 0, length, re2::RE2::UNANCHORED, nullptr, 0);
}

int agd_re2_match(
    const agd_re2 *pattern, const char *text, size_t length, size_t start, int64_t *spans, int groups) {
    std::vector<re2::StringPiece> found(groups + 1);
    if (!pattern->pattern.Match(
            re2::StringPiece(text, length), start, length, re2::RE2::UNANCHORED, found.data(), groups + 1))
        return 0;
    for (int group = 0; group <= groups; group++) {
        bool took_part = found[group].data() != nullptr;
        spans[2 * group] = took_part ? found[group].data() - text : -1;
        spans[2 * group + 1] = took_part ? spans[2 * group] + (int64_t)found[group].size() : -1;
    }
    return 1;
}
