/** The sentence that names the guide for settings of applications. */
const guide = "The settings of many applications are at /docs/guides/your-app.";
const chat = "POST /v1/chat/completions";

interface OtherApi {
  /** Matches the end of a path in small letters, without a slash at its end. */
  readonly path: RegExp;
  readonly hint: string;
}

const notOffered = (thing: string): string =>
  `${thing} not offered, only chat: let that setting of your application point to another service. ${guide}`;

const chatInstead = (api: string, setting: string): string =>
  `${api} is not offered. Use ${chat}: ${setting}. ${guide}`;

/** Stands behind the name of a model. */
const geminiMethod = /:(streamgeneratecontent|generatecontent|counttokens|embedcontent|batchembedcontents|predict)$/;

/** Checks whether the last segment of a path, in lower case, calls a method of Gemini's API. */
export const isGeminiMethod = (segment: string): boolean => geminiMethod.test(segment);

/**
 * Paths of other APIs that applications request, with the setting to change, and wrong paths of our own pages. The first
 * match counts.
 */
const otherApis: readonly OtherApi[] = [
  {
    path: /\/responses(\/.*)?$/,
    hint: chatInstead("The Responses API", "choose Chat Completions, or a provider called OpenAI compatible"),
  },
  {
    path: /\/messages(\/count_tokens|\/batches.*)?$|\/v1\/complete$/,
    hint: chatInstead("The API of Anthropic", "choose a provider called OpenAI compatible"),
  },
  {
    path: /\/chat\/completions\/.+$/,
    hint: `Answers are not kept here. Send every conversation whole to ${chat}.`,
  },
  {
    path: /\/(completions?|engines\/.+\/completions|generate|generate_stream|infill|edits)$/,
    hint: chatInstead("The API for text completions", "send `messages` in place of `prompt`"),
  },
  {
    path: /\/api\/(chat|tags|show|ps|pull|version|embed)$/,
    hint: chatInstead(
      "The API of Ollama",
      "choose a provider called OpenAI compatible, with a base URL that ends in /v1",
    ),
  },
  {
    path: geminiMethod,
    hint: chatInstead("The API of Gemini", "choose a provider called OpenAI compatible"),
  },
  { path: /\/(embeddings?|embed)$/, hint: notOffered("Embeddings are") },
  { path: /\/(images|videos)(\/.*)?$/, hint: notOffered("Images and videos are") },
  { path: /\/(audio|realtime)(\/.*)?$/, hint: notOffered("Speech and sound are") },
  { path: /\/(moderations|rerank|score|classify)$/, hint: notOffered("Moderation and ranking are") },
  {
    path: /\/(files|uploads|batches|vector_stores|fine_tuning|fine-tunes|evals|containers|skills)(\/.*)?$/,
    hint: notOffered("Files, batches and fine-tuning are"),
  },
  {
    path: /\/(assistants|threads|conversations|chatkit)(\/.*)?$/,
    hint: chatInstead("The API for stored conversations", "choose Chat Completions, and send the conversation whole"),
  },
  {
    path: /\/(health|healthz|live|livez|ready|readyz|ping|status)$/,
    hint: "The probes are GET /health and GET /ready.",
  },
  { path: /\/(docs|redoc|swagger|swagger-ui)$/, hint: "The docs are at /docs." },
  { path: /\/(openapi|swagger|api-docs)(\.\w+)?$/, hint: "The OpenAPI document is at /openapi.json." },
  { path: /\/metrics$/, hint: "Metrics have a port of their own, which the operator of this service knows." },
  { path: /^(\/v1)?\/chat$/, hint: `Send chat requests to ${chat}.` },
];

/** Says what to use in place of an API that is not offered; undefined for an unknown path. */
export function otherApiHint(segments: readonly string[]): string | undefined {
  const path = `/${segments.join("/").toLowerCase().slice(0, 200)}`;
  return otherApis.find((api) => api.path.test(path))?.hint;
}
