// Wrappers for parts of jansson (Debian's libjansson-dev) that Swift can't import.
#pragma once
#include <jansson.h>

// `json_decref` is an inline function over atomics that Swift does not import.
static inline void assayReleaseJSON(json_t *value) { json_decref(value); }

// `json_error_code` reads the last byte of a C array, which Swift sees as a tuple.
static inline enum json_error_code assayErrorCode(const json_error_t *error) { return json_error_code(error); }
