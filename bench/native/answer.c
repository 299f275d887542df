#include "answer.h"
#include "socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The forms of vLLM 0.32.0, as captured in packages/inference/testing/captures.

static const char *const created = "1795230934";
static Buffer event;
static Buffer json;

Script read_script(const char *model, const char *path) {
  Script script = {.model = model};
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char line[256];
  while (fgets(line, sizeof line, file)) {
    char *text = strchr(line, ' ');
    if (!text) continue;
    text[strcspn(text, "\n")] = 0;
    script.words = realloc(script.words, (size_t)(script.word_count + 1) * sizeof(Word));
    script.words[script.word_count++] = (Word){.id = atoi(line), .text = strdup(text + 1)};
  }
  fclose(file);
  if (script.word_count == 0) fail("the script has no words");
  return script;
}

/** Returns the text after a member's name, or NULL. The prompts of the load do not contain such names. */
static const char *member_of(const char *body, const char *quoted_name) {
  const char *found = strstr(body, quoted_name);
  if (!found) return NULL;
  found += strlen(quoted_name);
  while (*found == ' ' || *found == ':') found += 1;
  return found;
}

static bool is_true(const char *body, const char *quoted_name) {
  const char *value = member_of(body, quoted_name);
  return value && *value == 't';
}

static int number_of(const char *body, const char *quoted_name, int otherwise) {
  const char *value = member_of(body, quoted_name);
  return value && *value >= '0' && *value <= '9' ? atoi(value) : otherwise;
}

static int count_prompt(const char *body) {
  const char *ids = member_of(body, "\"prompt\"");
  if (!ids || *ids != '[') return 9;
  int count = 1;
  for (; *ids && *ids != ']'; ids += 1) count += *ids == ',';
  return count;
}

Answer read_request(const char *path, const char *body, int64_t number) {
  const char *logprobs = member_of(body, "\"logprobs\"");
  int wanted = number_of(body, "\"max_tokens\"", number_of(body, "\"max_completion_tokens\"", 16));
  return (Answer){
      .number = number,
      .is_chat = strstr(path, "/chat/") != NULL,
      .streams = is_true(body, "\"stream\""),
      .has_usage = is_true(body, "\"include_usage\""),
      .has_usage_always = is_true(body, "\"continuous_usage_stats\""),
      .has_logprobs = logprobs && (*logprobs == 't' || (*logprobs >= '0' && *logprobs <= '9')),
      .wanted = wanted > 0 ? wanted : 1,
      .prompt_tokens = count_prompt(body),
  };
}

static void begin_object(Buffer *out, const Script *script, const Answer *answer, const char *kind) {
  buffer_text(out, answer->is_chat ? "{\"id\":\"chatcmpl-" : "{\"id\":\"cmpl-");
  buffer_number(out, answer->number);
  buffer_text(out, "\",\"object\":\"");
  buffer_text(out, kind);
  buffer_text(out, "\",\"created\":");
  buffer_text(out, created);
  buffer_text(out, ",\"model\":\"");
  buffer_text(out, script->model);
  buffer_text(out, "\",\"choices\":[");
}

static void write_usage(Buffer *out, const Answer *answer, bool is_last) {
  buffer_text(out, ",\"usage\":{\"prompt_tokens\":");
  buffer_number(out, answer->prompt_tokens);
  buffer_text(out, ",\"total_tokens\":");
  buffer_number(out, answer->prompt_tokens + answer->written);
  buffer_text(out, ",\"completion_tokens\":");
  buffer_number(out, answer->written);
  buffer_text(out, is_last ? ",\"prompt_tokens_details\":{\"cached_tokens\":0}}" : "}");
}

/** Log-probabilities of one token, in the form of each route. */
static void write_logprobs(Buffer *out, const Answer *answer, const Word *word) {
  if (!answer->has_logprobs) return buffer_text(out, ",\"logprobs\":null");
  if (!answer->is_chat) {
    buffer_print(out,
                 ",\"logprobs\":{\"text_offset\":[0],\"token_logprobs\":[-0.5],\"tokens\":[\"token_id:%d\"],"
                 "\"top_logprobs\":[{\"token_id:%d\":-0.5}]}",
                 word->id, word->id);
    return;
  }
  buffer_print(out, ",\"logprobs\":{\"content\":[{\"token\":\"%s\",\"logprob\":-0.5,\"bytes\":[", word->text);
  for (const char *at = word->text; *at; at += 1) buffer_print(out, at == word->text ? "%d" : ",%d", *at);
  buffer_text(out, "],\"top_logprobs\":[]}]}");
}

static void end_event(Buffer *out) {
  buffer_text(&event, "\n\n");
  char size[16];
  snprintf(size, sizeof size, "%zx\r\n", buffer_left(&event));
  buffer_text(out, size);
  buffer_add(out, buffer_at(&event), buffer_left(&event));
  buffer_text(out, "\r\n");
  buffer_clear(&event);
}

void write_stream_head(Buffer *out) {
  buffer_text(out,
              "HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
              "transfer-encoding: chunked\r\n\r\n");
}

static void write_role(Buffer *out, const Script *script, const Answer *answer) {
  buffer_text(&event, "data: ");
  begin_object(&event, script, answer, "chat.completion.chunk");
  buffer_text(&event,
              "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
              "\"finish_reason\":null}]");
  if (answer->has_usage_always) write_usage(&event, answer, false);
  buffer_text(&event, "}");
  end_event(out);
}

static void write_end(Buffer *out, const Script *script, const Answer *answer, const char *kind) {
  if (answer->has_usage) {
    buffer_text(&event, "data: ");
    begin_object(&event, script, answer, kind);
    buffer_text(&event, "]");
    write_usage(&event, answer, true);
    buffer_text(&event, "}");
    end_event(out);
  }
  buffer_text(&event, "data: [DONE]");
  end_event(out);
  buffer_text(out, "0\r\n\r\n");
}

void write_token(Buffer *out, const Script *script, Answer *answer) {
  const char *kind = answer->is_chat ? "chat.completion.chunk" : "text_completion";
  if (answer->is_chat && answer->written == 0) write_role(out, script, answer);
  const Word *word = &script->words[answer->written++ % script->word_count];
  buffer_text(&event, "data: ");
  begin_object(&event, script, answer, kind);
  buffer_text(&event, answer->is_chat ? "{\"index\":0,\"delta\":{\"content\":\"" : "{\"index\":0,\"text\":\"");
  buffer_text(&event, word->text);
  buffer_text(&event, answer->is_chat ? "\"}" : "\"");
  write_logprobs(&event, answer, word);
  bool is_last = answer->written == answer->wanted;
  buffer_text(&event, is_last ? ",\"finish_reason\":\"length\",\"stop_reason\":null" : ",\"finish_reason\":null");
  buffer_text(&event, answer->is_chat ? ",\"token_ids\":" : ",\"prompt_token_ids\":null,\"token_ids\":[");
  if (answer->is_chat) buffer_text(&event, "null}]");
  else {
    buffer_number(&event, word->id);
    buffer_text(&event, "]}]");
  }
  if (answer->has_usage_always) write_usage(&event, answer, false);
  buffer_text(&event, "}");
  end_event(out);
  if (is_last) write_end(out, script, answer, kind);
}

void write_whole(Buffer *out, const Script *script, Answer *answer) {
  buffer_clear(&json);
  begin_object(&json, script, answer, answer->is_chat ? "chat.completion" : "text_completion");
  buffer_text(&json, answer->is_chat ? "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\""
                                     : "{\"index\":0,\"text\":\"");
  for (int at = 0; at < answer->wanted; at += 1) buffer_text(&json, script->words[at % script->word_count].text);
  buffer_text(&json, answer->is_chat ? "\",\"refusal\":null}" : "\"");
  buffer_text(&json, ",\"logprobs\":null,\"finish_reason\":\"length\",\"stop_reason\":null,\"token_ids\":");
  for (int at = 0; at < answer->wanted && !answer->is_chat; at += 1) {
    buffer_text(&json, at == 0 ? "[" : ",");
    buffer_number(&json, script->words[at % script->word_count].id);
  }
  buffer_text(&json, answer->is_chat ? "null}]" : "]}]");
  answer->written = answer->wanted;
  write_usage(&json, answer, true);
  buffer_text(&json, "}");
  write_json(out, 200, &json);
}

void write_json(Buffer *out, int status, const Buffer *body) {
  buffer_print(out, "HTTP/1.1 %d %s\r\nserver: uvicorn\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n",
               status, status == 200 ? "OK" : "Not Found", buffer_left(body));
  if (buffer_left(body) > 0) buffer_add(out, buffer_at(body), buffer_left(body));
}

void write_models(Buffer *out, const Script *script) {
  buffer_print(out,
               "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":%s,"
               "\"owned_by\":\"vllm\",\"root\":\"%s\",\"parent\":null,\"max_model_len\":16384,\"permission\":[]}]}",
               script->model, created, script->model);
}
