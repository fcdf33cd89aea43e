#include "CSimdJSON.h"
#include <new>
#include <simdjson.h>

struct agd_json_parser {
    simdjson::dom::parser parser;
    size_t max_depth;
};

size_t agd_json_padding(void) { return simdjson::SIMDJSON_PADDING; }

agd_json_parser *agd_json_parser_new(size_t max_depth) {
    auto *made = new (std::nothrow) agd_json_parser();
    if (made) made->max_depth = max_depth;
    return made;
}

void agd_json_parser_free(agd_json_parser *parser) { delete parser; }

static int make_room(agd_json_parser *parser, size_t length) {
    // parse() only ever grows the tape to fit; the depth is set together with the capacity, so it must be asked for first.
    if (parser->parser.capacity() >= length && parser->parser.max_depth() == parser->max_depth) return 0;
    return parser->parser.allocate(length < 4096 ? 4096 : length, parser->max_depth);
}

size_t agd_json_structural_count(agd_json_parser *parser, const uint8_t *text, size_t length) {
    if (make_room(parser, length)) return 0;
    auto &implementation = *parser->parser.implementation;
    if (implementation.stage1(text, length, simdjson::stage1_mode::regular)) return 0;
    return implementation.n_structural_indexes;
}

int agd_json_parse(agd_json_parser *parser, const uint8_t *text, size_t length, int padded, agd_json_document *document) {
    if (auto error = make_room(parser, length)) return error;
    auto result = parser->parser.parse(text, length, padded == 0);
    if (result.error()) return result.error();
    document->tape = parser->parser.doc.tape.get();
    document->strings = parser->parser.doc.string_buf.get();
    return 0;
}

int agd_json_is_too_deep(int code) { return code == simdjson::DEPTH_ERROR; }

int agd_json_is_number_error(int code) { return code == simdjson::NUMBER_ERROR; }

const char *agd_json_error_message(int code) { return simdjson::error_message(simdjson::error_code(code)); }
