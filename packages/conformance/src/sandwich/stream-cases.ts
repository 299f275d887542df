import type { Case, Finding, Seen } from "./case.ts";
import { finding } from "./case.ts";
import { judgeAnswer, judgeRepeats } from "./judge-answer.ts";
import { judgeRequest } from "./judge-request.ts";
import { judgeBrokenStream, judgeStream } from "./judge-stream.ts";
import { chunk, errorAnswer, event, finish, plainAnswer, role, streamOf, usageChunk, words } from "./scripts.ts";
import type { Piece, Script } from "./upstream.ts";

const withUsage = { stream: true, stream_options: { include_usage: true } };

const streams = (name: string, does: string, script: Script, rest: Partial<Case> = {}): Case => ({
  name,
  does,
  members: { stream: true },
  script,
  judge: judgeStream,
  ...rest,
});

const call = (index: number, members: object): object => chunk({ tool_calls: [{ index, ...members }] });
const begins = (index: number, id: string, name: string): object =>
  call(index, { id, type: "function", function: { name, arguments: "" } });
const argumentsOf = (index: number, text: string): object => call(index, { function: { arguments: text } });

/** Cuts bytes into pieces of 13: they end inside of events and of characters. */
const smallPieces = (text: string): Piece[] =>
  Array.from({ length: Math.ceil(Buffer.byteLength(text) / 13) }, (_, index) => ({
    bytes: Buffer.from(text).subarray(index * 13, index * 13 + 13),
    afterMs: 2,
  }));

const paceMs = 250;
const pacedWords = "one two three four five";

/** Demands that the pieces of a stream arrive while the upstream writes them. */
function judgePace(seen: Seen): Finding[] {
  const times = seen.answer.stream.events.map(({ atMs }) => atMs);
  const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const wantedMs = paceMs * (pacedWords.split(" ").length - 1);
  if (seen.received.length === 0 || times.length < 2 || tookMs > wantedMs / 2) return [];
  const texts = { sent: `${wantedMs} ms`, got: `${Math.round(tookMs)} ms` };
  return [finding("changed", "answer", "the pace", "The stream was held back and arrived at once.", texts)];
}

const maxHangUpMs = 3000;

/** Demands that the upstream learns of a caller's hang-up: until then the engine generates, and the caller pays. */
function judgeHangUp({ received: [first], endedAtMs }: Seen): Finding[] {
  if (first === undefined) return [];
  const afterMs = (first.hungUpAtMs ?? Number.POSITIVE_INFINITY) - endedAtMs;
  return afterMs < maxHangUpMs
    ? []
    : [
        finding(
          "lost",
          "connection",
          "the hang-up",
          `The caller hung up, and ${maxHangUpMs / 1000} s later the gateway still read the upstream's answer.`,
        ),
      ];
}

const slow = (count: number): Piece[] =>
  Array.from({ length: count }, () => ({ bytes: event(chunk({ content: "on " })), afterMs: 50 }));

const failureEvent = event({
  error: { message: "The engine ran out of memory.", type: "server_error", param: null, code: "engine_failed" },
});
const started = streamOf([role, ...words("one two")], { isDone: false, pauseMs: 20 });
const broken = (name: string, does: string, pieces: readonly Piece[], end: "finish" | "reset"): Case =>
  streams(
    name,
    does,
    { ...started, pieces: [...started.pieces, ...pieces], end },
    {
      judge: (seen) => [
        ...judgeBrokenStream(seen),
        ...judgeRepeats(seen, "The stream had begun, and the gateway paid for the generation again."),
      ],
    },
  );

export const streamCases: readonly Case[] = [
  streams(
    "plain-stream",
    "Streams without usage, which was not asked for.",
    streamOf([role, ...words("one two"), finish("length")], { pauseMs: 20 }),
    {
      judge: (seen) => [...judgeRequest(seen), ...judgeStream(seen)],
    },
  ),
  streams(
    "paced-stream",
    "Writes five words at a pace, and the usage.",
    streamOf([role, ...words(pacedWords), finish("stop"), usageChunk], { pauseMs: paceMs }),
    {
      members: withUsage,
      judge: (seen) => [...judgeRequest(seen), ...judgeStream(seen), ...judgePace(seen)],
    },
  ),
  streams("burst", "Writes 300 events at once.", {
    ...streamOf([]),
    pieces: [
      {
        bytes:
          [role, ...words(Array.from({ length: 300 }, (_, index) => index).join(" ")), finish("stop")]
            .map(event)
            .join("") + event("[DONE]"),
      },
    ],
  }),
  streams(
    "streamed-calls",
    "Streams two calls whose arguments alternate.",
    streamOf(
      [
        role,
        begins(0, "call_b", "second"),
        argumentsOf(0, '{ "b"'),
        begins(1, "call_a", "first"),
        argumentsOf(1, '{"é'),
        argumentsOf(0, ": 1.0 }"),
        argumentsOf(1, '":"👩‍👩‍👧"}'),
        finish("tool_calls"),
      ],
      { pauseMs: 20 },
    ),
    {
      members: {
        stream: true,
        tools: ["first", "second"].map((name) => ({
          type: "function",
          function: { name, parameters: { type: "object" } },
        })),
      },
    },
  ),
  streams(
    "two-choices",
    "Streams two choices in turns, with different ends.",
    streamOf(
      [
        role,
        chunk({ role: "assistant", content: "" }, { index: 1 }),
        ...words("one"),
        ...words("eins", 1),
        ...words(" two"),
        ...words(" zwei", 1),
        finish("stop"),
        finish("length", 1),
      ],
      { pauseMs: 20 },
    ),
    { members: { stream: true, n: 2 } },
  ),
  streams(
    "streamed-extras",
    "Streams reasoning, a refusal, log probabilities and unknown members.",
    streamOf(
      [
        role,
        chunk({ reasoning_content: "hm" }),
        chunk({ refusal: "No." }),
        chunk({ content: "a", x_note: 1 }, { members: { x_engine: { step: 1 } } }),
        {
          ...chunk({ content: "b" }),
          choices: [
            {
              index: 0,
              delta: { content: "b" },
              logprobs: { content: [{ token: "b", logprob: -0.25, bytes: [98], top_logprobs: [] }], refusal: null },
              finish_reason: null,
            },
          ],
        },
        finish("content_filter"),
      ],
      { pauseMs: 20 },
    ),
    { members: { stream: true, logprobs: true } },
  ),
  streams("split-events", "Writes events in pieces that end inside of events and characters.", {
    ...streamOf([]),
    pieces: smallPieces(
      [role, chunk({ content: "é👩‍👩‍👧" }), chunk({ content: "שלום" }), finish("stop"), "[DONE]"].map(event).join(""),
    ),
  }),
  streams("comments", "Writes comment lines, CRLF line ends and `data:` without a space.", {
    ...streamOf([]),
    pieces: [
      ": wait\r\n\r\n",
      event(role).replaceAll("\n", "\r\n"),
      ": still here\r\n\r\n",
      event(chunk({ content: "ok" })).replace("data: ", "data:"),
      event(finish("stop")),
      event("[DONE]"),
    ].map((bytes) => ({ bytes, afterMs: 30 })),
  }),
  streams(
    "refused-stream",
    "Answers a streamed request with 400 before the first event.",
    errorAnswer(400, {
      message: "The messages do not alternate.",
      type: "invalid_request_error",
      param: "messages",
      code: "bad_order",
    }),
    { judge: judgeAnswer },
  ),
  broken(
    "failed-stream",
    "Writes two words and an error event, and ends the stream.",
    [{ bytes: failureEvent, afterMs: 20 }],
    "finish",
  ),
  broken("cut-stream", "Writes two words and resets the connection.", [], "reset"),
  broken("unended-stream", "Writes two words and ends the body without finish_reason and [DONE].", [], "finish"),
  streams(
    "hang-up-in-stream",
    "Hangs up after two events of a long stream.",
    { ...started, pieces: [...started.pieces, ...slow(160)] },
    {
      behaviour: { disconnectAfterEvents: 2 },
      judge: judgeHangUp,
    },
  ),
  {
    name: "hang-up-before-answer",
    does: "Hangs up while the upstream still generates an answer in one piece.",
    script: { ...plainAnswer, pieces: plainAnswer.pieces.map((piece) => ({ ...piece, afterMs: 7000 })) },
    behaviour: { disconnectAfterMs: 1000 },
    judge: judgeHangUp,
  },
];
