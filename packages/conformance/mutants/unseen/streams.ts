import { setTimeout as wait } from "node:timers/promises";
import { isRecord, listAt, numberAt, textAt, valueAt } from "../../src/judge/read.ts";
import type { Outgoing } from "../reference/answers.ts";
import type { Mutant } from "../reference/mutant.ts";
import { chunked, deltaOf, isFinish, isUsage, lacking, streamed, withPieces } from "../seeded-bugs/mutate.ts";
import { unseen, unseenWithFailure } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

type Json = Record<string, unknown>;
const text = (data: Json | string): string => (typeof data === "string" ? data : JSON.stringify(data));
const contentOf = (data: Json | string): string => textAt(data, "/choices/0/delta/content") ?? "";
const whole = (edit: (events: Outgoing[]) => Outgoing[]): Mutant => ({
  stream: async function* (events) {
    const all: Outgoing[] = [];
    for await (const event of events) all.push(event);
    yield* edit(all);
  },
});
const dataOf = (event: Outgoing): Json | string => ("data" in event ? event.data : "");
const pieces = (edit: (content: string) => string): Mutant =>
  withPieces((choice) =>
    typeof deltaOf(choice)["content"] === "string" && !("role" in deltaOf(choice))
      ? { ...choice, delta: { content: edit(String(deltaOf(choice)["content"])) } }
      : choice,
  );
const finishing = (from: string, to: unknown): Mutant =>
  withPieces((choice) => (choice["finish_reason"] === from ? { ...choice, finish_reason: to } : choice));
const withUsage = (edit: (usage: Json) => Json): Mutant =>
  chunked((chunk) => (isUsage(chunk) ? { ...chunk, usage: edit(chunk["usage"] as Json) } : chunk)); // isUsage has looked

/** Sends the text of each event with its bytes cut in the middle, as two events. */
const cutBytes = (): Mutant =>
  streamed((data) => {
    const content = contentOf(data);
    const wide = Array.from(content).find((one) => Buffer.byteLength(one) > 1);
    if (typeof data === "string" || wide === undefined) return [data];
    const line = Buffer.from(`data: ${text(data)}\n\n`);
    const at = line.indexOf(wide) + 1;
    const latin = (bytes: Buffer): string => bytes.toString("latin1");
    return [{ raw: `${latin(line.subarray(0, at))}"},"logprobs":null,"finish_reason":null}]}\n\n` }];
  });

/** Faults of streams. */
export const streamFaults: readonly UnseenFault[] = [
  unseen(
    "no [DONE]",
    streamed((data) => (data === "[DONE]" ? [] : [data])),
    "huggingface/text-generation-inference#2221",
  ),
  unseen(
    "[DONE] without the empty line",
    streamed((data) => [data === "[DONE]" ? { raw: "data: [DONE]\n" } : data]),
  ),
  unseen(
    "DONE as JSON",
    streamed((data) => [data === "[DONE]" ? { raw: 'data: "[DONE]"\n\n' } : data]),
  ),
  unseen(
    "an id of its own for each event",
    chunked((chunk, place) => ({ ...chunk, id: `chatcmpl-${place}` })),
    "nath1295/MLX-Textgen#9",
  ),
  unseen(
    "created moves on while it streams",
    chunked((chunk, place) => ({ ...chunk, created: Number(chunk["created"]) + place })),
  ),
  unseen(
    "usage in every event, as zeros",
    chunked((chunk) => ({
      ...chunk,
      usage: isUsage(chunk) ? chunk["usage"] : { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    })),
    "mattermost/mattermost-plugin-agents#143",
  ),
  unseen(
    "the usage event has a choice",
    chunked((chunk) =>
      isUsage(chunk) ? { ...chunk, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null }] } : chunk,
    ),
    "BerriAI/litellm#8450",
  ),
  unseen(
    "usage is not sent though asked for",
    streamed((data) => (isUsage(data) ? [] : [data])),
    "BerriAI/litellm#8349",
  ),
  unseen(
    "usage comes with the last text",
    whole((all) => {
      const usage = all.map(dataOf).find(isUsage);
      return all
        .filter((event) => !isUsage(dataOf(event)))
        .map((event) =>
          isFinish(dataOf(event)) && usage
            ? { data: { ...(dataOf(event) as Json), usage: valueAt(usage, "/usage") } }
            : event,
        ); // a finish is an object
    }),
    "BerriAI/litellm#8450",
  ),
  unseen(
    "the stream undercounts the prompt",
    withUsage((usage) => ({ ...usage, prompt_tokens: 1, total_tokens: 1 + numberAt(usage, "/completion_tokens") })),
    "BerriAI/litellm#36114",
  ),
  unseen(
    "finish_reason is an empty text until the end",
    withPieces((choice) => (choice["finish_reason"] === null ? { ...choice, finish_reason: "" } : choice)),
    "sgl-project/sglang#3912",
  ),
  unseen(
    "no finish_reason where log-probabilities are asked for",
    {
      stream: async function* (events, body) {
        for await (const event of events) if (body["logprobs"] !== true || !isFinish(dataOf(event))) yield event;
      },
    },
    "BerriAI/litellm#10686",
  ),
  unseen("a stream that was cut says stop", finishing("length", "stop"), "BerriAI/litellm#25825"),
  unseen(
    "the finish is of a role that comes again",
    withPieces((choice) =>
      typeof choice["finish_reason"] === "string" ? { ...choice, delta: { role: "assistant", content: null } } : choice,
    ),
  ),
  unseen(
    "only the first choice has a role",
    withPieces((choice) =>
      "role" in deltaOf(choice) && choice["index"] !== 0 ? { ...choice, delta: { content: "" } } : choice,
    ),
  ),
  unseen(
    "the second choice has the index of the first",
    withPieces((choice) => ({ ...choice, index: 0 })),
  ),
  unseen("the last event repeats the whole text", {
    stream: async function* (events) {
      let all = "";
      for await (const event of events) {
        const data = dataOf(event);
        all += contentOf(data);
        if (isFinish(data) && isRecord(data))
          yield {
            data: { ...data, choices: [{ index: 0, delta: { content: all }, logprobs: null, finish_reason: null }] },
          };
        yield event;
      }
    },
  }),
  unseen("each event has the whole text so far", {
    stream: async function* (events) {
      let all = "";
      for await (const event of events) {
        const data = dataOf(event);
        if (contentOf(data) === "" || !isRecord(data)) {
          yield event;
          continue;
        }
        all += contentOf(data);
        yield { data: { ...data, choices: [{ ...Object(listAt(data, "/choices")[0]), delta: { content: all } }] } };
      }
    },
  }),
  unseen(
    "the last text is not flushed",
    whole((all) => {
      const at = all.findLastIndex((event) => contentOf(dataOf(event)) !== "");
      return all.toSpliced(at < 0 ? all.length : at, at < 0 ? 0 : 1);
    }),
    "ggml-org/llama.cpp#15007",
  ),
  unseen(
    "the first text is lost",
    whole((all) => {
      const at = all.findIndex((event) => contentOf(dataOf(event)) !== "");
      return all.toSpliced(at < 0 ? all.length : at, at < 0 ? 0 : 1);
    }),
  ),
  unseen(
    "blanks at the beginning of a text are lost",
    pieces((content) => content.trimStart()),
  ),
  unseen(
    "characters of several bytes become U+FFFD",
    pieces((content) => content.replaceAll(/[^\0-\u007f]/gu, "\ufffd\ufffd")),
    "antonellof/ferrox#124, mlc-ai/mlc-llm#1142",
  ),
  unseen("an event ends in the middle of a character", cutBytes(), "danielmiessler/Fabric#2203"),
  unseen(
    "half of a surrogate pair in each event",
    streamed((data) => {
      const content = contentOf(data);
      if (typeof data === "string" || !/[\ud800-\udbff]/.test(content)) return [data];
      return Array.from(content)
        .flatMap((one) => one.split(""))
        .map((half) => ({ ...data, choices: [{ ...Object(listAt(data, "/choices")[0]), delta: { content: half } }] }));
    }),
  ),
  unseen(
    "a buffer of 16 kB is in front of the stream",
    {
      flags: new Set(["events-collected"]),
      events: async function* (events) {
        for await (const event of events) {
          if (event.kind === "text") await wait(50);
          yield event;
        }
      },
    },
    "dstackai/dstack#4269, confidential-dot-ai/c8s#140",
  ),
  unseen(
    "no logprobs in the stream",
    withPieces((choice) => ({ ...choice, logprobs: null })),
    "abetlen/llama-cpp-python#197",
  ),
  unseen(
    "logprobs is an empty list between tokens",
    withPieces((choice) => (choice["logprobs"] === null ? { ...choice, logprobs: { content: [] } } : choice)),
    "sgl-project/sglang#19611",
  ),
  unseen(
    "reasoning streams as content",
    withPieces((choice) => {
      const { reasoning } = deltaOf(choice);
      return typeof reasoning === "string" ? { ...choice, delta: { content: reasoning } } : choice;
    }),
    "kekzl/imp#793",
  ),
  unseen(
    "the model's name is missing in the stream",
    chunked((chunk) => lacking(chunk, "model")),
    "mattermost/mattermost-plugin-agents#143",
  ),
  unseenWithFailure(
    "a failure of the engine is told as text",
    {
      streamError: (error) => [
        {
          data: {
            id: "chatcmpl-e",
            object: "chat.completion.chunk",
            created: 1,
            model: "m",
            system_fingerprint: "f",
            choices: [
              {
                index: 0,
                delta: { content: `Error: ${textAt(error, "/error/message")}` },
                logprobs: null,
                finish_reason: "stop",
              },
            ],
          },
        },
        { data: "[DONE]" },
      ],
    },
    "mozilla-ai/any-llm#847",
  ),
  unseenWithFailure(
    "a failure of the engine ends the stream without a word",
    { streamError: () => [] },
    "mozilla-ai/any-llm#847",
  ),
];
