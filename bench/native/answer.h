#ifndef ANSWER_H
#define ANSWER_H
#include "buffer.h"
#include <stdbool.h>

/** One word of what the engine writes: a token with its text, which is plain ASCII without quotes. */
typedef struct {
  int id;
  char *text;
} Word;

typedef struct {
  const char *model;
  Word *words;
  int word_count;
} Script;

/** One running answer. */
typedef struct {
  int64_t number;
  bool is_chat, streams, has_usage, has_usage_always, has_logprobs;
  int wanted, written, prompt_tokens;
} Answer;

/** Reads ids and texts, a line each: `17 word`. */
Script read_script(const char *model, const char *path);
/** Parses the body of a request. */
Answer read_request(const char *path, const char *body, int64_t number);

void write_stream_head(Buffer *out);
/** Writes the next token as an event, and the end of the stream after the last one. */
void write_token(Buffer *out, const Script *script, Answer *answer);
/** Writes the whole answer at once, as JSON. */
void write_whole(Buffer *out, const Script *script, Answer *answer);
void write_json(Buffer *out, int status, const Buffer *json);
/** Writes the answer of `/v1/models`. */
void write_models(Buffer *json, const Script *script);

#endif
