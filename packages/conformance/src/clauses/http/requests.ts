import { limit } from "../../contract/contract.ts";
import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must } from "../../judge/finding.ts";
import { httpRequest, authorized, chat, post } from "../../requests/chat-request.ts";
import { modelId } from "../../requests/listed-model.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Case } from "../../requests/refusals.ts";
import type { HttpRequest, Header } from "../../wire/http-request.ts";

const requestTo =
  (path: string, method = "GET", headers?: readonly Header[]) =>
  (context: Context): HttpRequest =>
    httpRequest(context, method, context.profile.basePath + path, headers);

export const wrongMethod = { status: 405, code: "method_not_allowed", param: null };
const malformed = '{"model": "x", "messages": [';

/** A chat request that a parser with extensions would accept. */
const withTrailingComma = (context: Context): HttpRequest => {
  const request = chat(context, { max_completion_tokens: 1 });
  return { ...request, body: `${(request.body ?? "").slice(0, -1)},}` };
};

/** A body with another media type. It is not JSON either: the media type has to be judged first. */
const typed = (title: string, headers: readonly Header[]): Case => ({
  title,
  request: (context) => {
    const request = post(context, malformed);
    return { ...request, headers: [...request.headers.filter(([name]) => name !== "Content-Type"), ...headers] };
  },
});

const gzipped = "H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA=="; // `{}`

const nearMiss = (title: string, path: (base: string) => string, says: RegExp): Case => ({
  title,
  request: (context) => {
    const { basePath } = context.profile;
    if (!basePath.endsWith("/v1")) cannot("the base URL does not end in /v1");
    return { ...post(context, "{}"), target: path(basePath) };
  },
  want: { says },
});

/** The right path must not occur as a part of a wrong one. */
const chatPathAlone = /(?<![\w/])\/v1\/chat\/completions(?![\w/%])/;

export const plans = refusals([
  {
    clause: "HTTP-02",
    want: wrongMethod,
    cases: [
      {
        title: "DELETE of createChatCompletion",
        isAlways: true,
        request: requestTo("/chat/completions", "DELETE", [authorized, ["Content-Type", "text/plain"]]),
      },
      { title: "GET of createChatCompletion", request: requestTo("/chat/completions") },
      { title: "PATCH of createChatCompletion", request: requestTo("/chat/completions", "PATCH") },
      { title: "PUT to listModels", request: requestTo("/models", "PUT") },
      {
        title: "POST to listModels",
        request: (context) => ({ ...post(context, "{}"), target: `${context.profile.basePath}/models` }),
      },
    ],
  },
  {
    clause: "HTTP-05",
    want: { status: 404, code: "unknown_url", param: null },
    cases: [
      {
        title: "DELETE of a path that is not there",
        request: requestTo("/conformance-nothing", "DELETE"),
        isAlways: true,
      },
      { title: "GET of a path that is not there", request: requestTo("/conformance/nothing") },
    ],
  },
  {
    clause: "HTTP-06",
    want: { status: 404, code: "unknown_url" },
    cases: [
      nearMiss("/chat/completions", (base) => `${base.slice(0, -3)}/chat/completions`, /\/v1\b/),
      nearMiss("/v1/v1/chat/completions", (base) => `${base}/v1/chat/completions`, /(?<!\/v1)\/v1\/chat\/completions/),
      nearMiss("/v1/completions", (base) => `${base}/completions`, /\/chat\/completions/),
      nearMiss("a slash at the end", (base) => `${base}/chat/completions/`, /\/chat\/completions(?!\/)/),
      nearMiss("/v1/responses", (base) => `${base}/responses`, /\/chat\/completions/),
      nearMiss("a doubled slash", (base) => `${base}//chat/completions`, chatPathAlone),
      nearMiss("a base URL with the path", (base) => `${base}/chat/completions/chat/completions`, chatPathAlone),
      nearMiss("another case of letters", (base) => `${base}/Chat/Completions`, chatPathAlone),
      nearMiss(
        "a word in front",
        (base) => `${base.slice(0, -3)}/openai${base.slice(-3)}/chat/completions`,
        chatPathAlone,
      ),
      nearMiss("a blank behind", (base) => `${base}/chat/completions%20`, chatPathAlone),
    ],
  },
  {
    clause: "HTTP-07",
    want: { status: 413, code: "request_too_large", param: null },
    cases: [
      {
        title: "a body of one byte too many",
        request: (context) => post(context, " ".repeat(limit("maxBodyBytes") + 1)),
      },
    ],
  },
  {
    clause: "HTTP-09",
    want: { status: 415, code: "unsupported_media_type", param: null },
    cases: [
      { ...typed("text/plain", [["Content-Type", "text/plain"]]), isAlways: true },
      typed("a form", [["Content-Type", "application/x-www-form-urlencoded"]]),
      typed("application/jsonl", [["Content-Type", "application/jsonl"]]),
    ],
  },
  {
    clause: "HTTP-10",
    want: { status: 415, code: "unsupported_media_type", param: null },
    cases: [typed("a body without a Content-Type", [])],
  },
  {
    clause: "HTTP-11",
    want: { status: 415, code: "unsupported_media_type", param: null },
    cases: [
      typed("another charset", [["Content-Type", "application/json; charset=iso-8859-1"]]),
      {
        title: "a body in gzip",
        request: (context) => {
          const { body: _, ...request } = post(context, "", { headers: [["Content-Encoding", "gzip"]] });
          return { ...request, bodyBase64: gzipped };
        },
      },
    ],
  },
  {
    clause: "HTTP-13",
    isWide: true,
    want: { status: 400, code: "invalid_json", param: null },
    cases: [
      { title: "an empty body", request: (context) => post(context, "") },
      { title: "a trailing comma", request: withTrailingComma, coveredBy: "after an error" },
      { title: "JSON that breaks off", request: (context) => post(context, malformed) },
      { title: "NaN", request: (context) => post(context, '{"temperature":NaN}') },
    ],
  },
  {
    clause: "HTTP-14",
    want: { status: 400, code: "invalid_json", param: null },
    cases: [{ title: "129 levels", request: (context) => chat(context, {}, { raw: [nested("deep", 129)] }) }],
  },
  {
    clause: "HTTP-16",
    want: { status: 400, code: "invalid_type", param: null },
    cases: [
      {
        title: "an array of the largest size",
        isAlways: true,
        request: (context) => post(context, `[${" ".repeat(limit("maxBodyBytes") - 2)}]`),
      },
      { title: "a string", request: (context) => post(context, '"{}"') },
      { title: "null", request: (context) => post(context, "null") },
    ],
  },
  {
    clause: "HTTP-35",
    want: { status: 400, code: "invalid_json", param: null },
    cases: [
      {
        title: "one value too many",
        request: (context) => post(context, `[${"0,".repeat(limit("maxBodyValues") - 1)}0]`),
      },
    ],
  },
]);

/** A member that nests the body to this number of levels; the body itself is the first. */
export const nested = (name: string, levels: number): string =>
  `"${name}":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}`;

/** Bytes that are not an HTTP request, or one that is larger than most servers read. */
export interface Unreadable {
  readonly title: string;
  readonly raw: string;
  readonly statuses: readonly number[];
  /** Some servers have room for it. They may answer it like any other request. */
  readonly mayBeRead?: true;
}

export const unreadable: readonly Unreadable[] = [
  { title: "a word", raw: "hello\r\n\r\n", statuses: [400] },
  { title: "another version of HTTP", raw: "GET /v1/models HTTP/9.9\r\nHost: x\r\n\r\n", statuses: [400, 505] },
  {
    title: "a header of 100 kB",
    raw: `GET /v1/models HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(100_000)}\r\n\r\n`,
    statuses: [431],
    mayBeRead: true,
  },
  {
    title: "a length that is not a number",
    raw: "POST /v1/models HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    statuses: [400],
  },
  {
    title: "a URL of 40 kB",
    raw: `GET /v1/${"x".repeat(40_000)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n`,
    statuses: [414, 431],
    mayBeRead: true,
  },
];
export const unreadableName = (title: string): string => `HTTP-22 ${title}`;
export const isSent = (index: number, { profile }: Context): boolean =>
  profile.isExhaustive || index === profile.seed % unreadable.length;

export const steps: readonly Step[] = [
  {
    name: "a short array",
    needs: ["HTTP-16 an array of the largest size"],
    coveredBy: (context) => {
      const answer = context.answer("HTTP-16 an array of the largest size");
      must(answer.status === 200 || answer.status === 400, answer, "status 200 or 400", answer.summary);
      return answer.name;
    },
    requests: (context) => [post(context, "[]")],
  },
  { name: "HEAD", requests: (context) => [requestTo("/models", "HEAD")(context)] },
  { name: "OPTIONS", requests: (context) => [requestTo("/models", "OPTIONS")(context)] },
  {
    name: "after an error",
    needs: ["models"],
    how: "on one connection",
    requests: (context) => [
      withTrailingComma(context),
      chat(context, { model: "conformance/none" }),
      requestTo(`/models/${modelId(context)}`)(context),
    ],
  },
  {
    name: "several faults",
    needs: ["models"],
    requests: (context) => [chat(context, { model: "conformance/none", presence_penalty: 7, top_p: 0, stream: true })],
  },
  ...unreadable.map(({ title, raw }, index): Step => ({
    name: unreadableName(title),
    requests: (context) => {
      if (!isSent(index, context)) cannot("left out of a short run; --exhaustive sends every case");
      return [{ method: "GET", target: "", headers: [], raw }];
    },
  })),
];
