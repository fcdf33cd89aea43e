// A thin C face of RE2: patterns in RE2's syntax, matched in time linear in the text.
#ifndef AGD_CRE2_H
#define AGD_CRE2_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agd_re2 agd_re2;

/// A compiled pattern, which takes at most max_memory bytes; NULL when the pattern is faulty or too large, and then
/// `error` (of `capacity` bytes, at least 1) holds the reason as a C string.
agd_re2 *agd_re2_new(const char *pattern, size_t length, int64_t max_memory, char *error, size_t capacity);
void agd_re2_free(agd_re2 *pattern);

/// Capturing groups in the pattern.
int agd_re2_group_count(const agd_re2 *pattern);

/// Instructions of the compiled pattern.
int agd_re2_size(const agd_re2 *pattern);

/// Whether the pattern matches anywhere in the text.
int agd_re2_search(const agd_re2 *pattern, const char *text, size_t length);

/// The first match at or behind `start`; `spans` receives begin and end of the match and its groups, `groups + 1` pairs,
/// -1 for a group that took no part. 1 when there is one.
int agd_re2_match(
    const agd_re2 *pattern, const char *text, size_t length, size_t start, int64_t *spans, int groups);

/// Where a part begins in a text, -1 for nowhere: memmem, in time linear in both.
ptrdiff_t agd_find(const void *text, size_t length, const void *part, size_t part_length);

#ifdef __cplusplus
}
#endif
#endif
