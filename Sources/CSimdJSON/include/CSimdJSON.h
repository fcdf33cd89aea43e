// A thin C face of simdjson's DOM parser: bytes in, tape out. No value is built here; the caller walks the tape.
#ifndef AGD_CSIMDJSON_H
#define AGD_CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agd_json_parser agd_json_parser;

/// What one successful parse left behind. Both pointers belong to the parser and are good until its next parse or its end.
typedef struct {
    const uint64_t *tape;    // tape[0] is the root word; the document begins at tape[1]
    const uint8_t *strings;  // a string's tape word holds its offset here: uint32 length, then the bytes
} agd_json_document;

/// Bytes that must be readable (their content does not matter) behind the text handed to agd_json_parse.
size_t agd_json_padding(void);

/// A parser that refuses documents nested deeper than max_depth; NULL when memory is short.
agd_json_parser *agd_json_parser_new(size_t max_depth);
void agd_json_parser_free(agd_json_parser *parser);

/// 0 and a document, or simdjson's error code. `padded` says that the padding bytes stand behind the text;
/// otherwise the text is copied first.
int agd_json_parse(agd_json_parser *parser, const uint8_t *text, size_t length, int padded, agd_json_document *document);

/// Brackets, commas, colons and beginnings of scalars outside of strings, found without building anything; 0 when they cannot be found.
size_t agd_json_structural_count(agd_json_parser *parser, const uint8_t *text, size_t length);

/// Whether an error code says that the text is nested deeper than the parser takes, or that a number cannot be read.
int agd_json_is_too_deep(int code);
int agd_json_is_number_error(int code);

/// What an error code means, as a static string.
const char *agd_json_error_message(int code);

#ifdef __cplusplus
}
#endif
#endif
