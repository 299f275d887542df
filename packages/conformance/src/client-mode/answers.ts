import type { SeenRequest, Wire } from "./scripted-server.ts";

// Bytes that a server may send, as the contract describes them.

/** The text of most answers. It has characters of two, three and four bytes. */
export const text = "Grüße aus Zürich – 👩‍🚀 done.";

export const model = "vendor/model-1";

const head = { id: "chatcmpl-7Qm2xV9cTzE4aKfW", created: 1_795_230_934, model, system_fingerprint: "fp_3f9c2a71d04b" };

export const usage = {
  prompt_tokens: 16,
  completion_tokens: 28,
  total_tokens: 44,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost_usd: "0.0000216",
};

/** An answer in one body. */
export const completion = (message: object = {}, finish = "stop", more: object = {}): object => ({
  ...head,
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: text, refusal: null, ...message },
      logprobs: null,
      finish_reason: finish,
    },
  ],
  usage,
  ...more,
});

/** A chunk of a stream, as JSON text. */
export const chunk = (delta: object, finish: string | null = null, index = 0, more: object = {}): string =>
  JSON.stringify({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    ...more,
  });

export const usageChunk = JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage });

/** An event with one line of data. */
export const event = (data: string): string => `data: ${data}\n\n`;

export const done = event("[DONE]");

/** Chunks of a whole answer: the role, the text in pieces, the reason to finish. */
export const chunksOf = (words: string, finish = "stop"): string[] => [
  chunk({ role: "assistant", content: "" }),
  ...(words.match(/.{1,8}/gsu) ?? []).map((content) => chunk({ content })),
  chunk({}, finish),
];

export const wholeStream = (words = text): string => `${chunksOf(words).map(event).join("")}${done}`;

/** The error envelope of the contract. */
export const envelope = (status: number, code: string, param: string | null = null): object => ({
  error: {
    message: `The judge refuses this request with ${status} and ${code}.`,
    type: status >= 500 ? "server_error" : "invalid_request_error",
    param,
    code,
  },
  request_id: requestId,
});

export const requestId = "req_0b7e4a92c6d81f35";

type Headers = Readonly<Record<string, string>>;

const reasons: Readonly<Record<number, string>> = { 200: "OK", 307: "Temporary Redirect", 503: "Service Unavailable" };

const headBytes = (status: number, headers: Headers): string => {
  const lines = Object.entries({ "x-request-id": requestId, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${reasons[status] ?? "Error"}\r\n${lines.join("")}\r\n`;
};

/** Answers with a whole body. Text is sent as it is, anything else as JSON. */
export async function reply(
  wire: Wire,
  status: number,
  body: object | string | Uint8Array = completion(),
  headers: Headers = {},
): Promise<void> {
  const bytes =
    typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const length = { "content-type": "application/json", "content-length": String(bytes.length), ...headers };
  await wire.write(Buffer.concat([Buffer.from(headBytes(status, length)), bytes]));
}

/** Sends the head of a stream. */
export const openStream = (wire: Wire, headers: Headers = {}): Promise<void> =>
  wire.write(
    headBytes(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "transfer-encoding": "chunked",
      ...headers,
    }),
  );

/** Sends bytes of a stream, as one chunk of the transfer coding. */
export function send(wire: Wire, bytes: string | Uint8Array): Promise<void> {
  const body = Buffer.from(bytes);
  return wire.write(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")]));
}

/** Ends the transfer coding. The connection stays open. */
export const finish = (wire: Wire): Promise<void> => wire.write("0\r\n\r\n");

/** Sends a whole stream, with each part in a write of its own. */
export async function stream(wire: Wire, ...parts: readonly (string | Uint8Array)[]): Promise<void> {
  await openStream(wire);
  for (const part of parts) await send(wire, part);
  await finish(wire);
}

/** Answers a request as it asked: in one body or as a stream. */
export const answerWhole = (request: SeenRequest, wire: Wire): Promise<void> =>
  wantsStream(request.body.toString()) ? stream(wire, wholeStream()) : reply(wire, 200);

/** A broken body gets an answer, too, because the case judges it by its bytes. */
function wantsStream(body: string): boolean {
  try {
    return (JSON.parse(body) as { readonly stream?: unknown }).stream === true; // an object of the SDK
  } catch {
    return false;
  }
}
