import { valueAt, isRecord, parse } from "../../src/judge/read.ts";
import { keepReceipt } from "./account.ts";
import { admit } from "./admission.ts";
import type { Body } from "./answers.ts";
import type { Call } from "./call.ts";
import { dependencies } from "./dependencies.ts";
import { errorReply, newRequestId } from "./edge.ts";
import { run } from "./generation.ts";
import { loweredMaximum } from "./identity.ts";
import { countPrompt } from "./language.ts";
import { contextLength, isOffered, unknownModel } from "./models.ts";
import type { Reply } from "./mutant.ts";
import { keyOf, once } from "./repeated.ts";
import { ignoredWords } from "./schema-words.ts";
import { fault, findViolation, ignoredMembers } from "./violation.ts";
import type { Violation } from "./violation.ts";

const schema = { $ref: "#/components/schemas/ChatCompletionRequest" };

/** Serves a chat request, once its head is accepted. */
export async function answerChat(call: Call, given: string): Promise<Reply | undefined> {
  const { world, head } = call;
  const { mutant } = world;
  const text = mutant.text?.(given, head) ?? given;
  const parsed = keepNumbers(
    parse(mutant.flags?.has("first-member-counts") === true ? dropRepeated(text) : text),
    text,
  );
  const own =
    parsed === undefined ||
    levelsOf(text) > world.settings.maxLevels ||
    countValues(parsed) > world.settings.maxBodyValues
      ? fault("invalid_json", null, "The body is not JSON.")
      : judge(parsed, text, call);
  const bodyOf = (value: unknown): Body => (isRecord(value) ? value : {});
  const changed = mutant.violation ? mutant.violation(own, bodyOf(parsed), head) : own;
  const body = mutant.body?.(bodyOf(parsed), head) ?? bodyOf(parsed);
  const name = keyOf(call);
  if (changed && (typeof name !== "string" || mutant.flags?.has("failure-kept") !== true)) return refuse(call, changed);
  if (typeof name === "object") return name;
  const requestId = newRequestId();
  const answer = async (): Promise<Reply | undefined> =>
    changed ? refuse(call, changed) : generate(call, body, requestId);
  return name === undefined ? answer() : once(call, name, text, requestId, answer);
}

/** Admits a valid request, and answers it. */
async function generate(call: Call, body: Body, requestId: string): Promise<Reply | undefined> {
  const { world, key } = call;
  const { mutant } = world;
  const names = namedMembers(body);
  const found = mutant.ignored?.(names, body) ?? names;
  const shown = found
    .slice(0, 16)
    .map((name) => (mutant.formatName ?? formatName)(name))
    .join(",");
  const headers = shown === "" && found.length === 0 ? {} : { "x-ignored-params": shown };
  const prompt = mutant.prompt?.(countPrompt(body), body) ?? countPrompt(body);
  const refused = await admit(world, key, body, prompt);
  if (refused) return errorReply(refused);
  return run(call, body, prompt, headers, requestId);
}

// In Node since 22, and not yet declared by TypeScript.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

/** The body with the schema of the answer as it was written: JSON.parse would round its numbers. */
function keepNumbers(body: unknown, text: string): unknown {
  if (!isRecord(body) || !/\d{16}/.test(text)) return body;
  const reviver = (_name: string, value: unknown, { source = "" }: { readonly source?: string }): unknown =>
    /^\d{16,}$/.test(source) && String(value) !== source ? rawJSON(source) : value;
  const exact: unknown = JSON.parse(text, reviver as (name: string, value: unknown) => unknown);
  return { ...body, response_format: valueAt(exact, "/response_format") };
}

/** Members without effect, in the order of the request: a maximum that is lowered is one of them. */
function namedMembers(body: Body): readonly string[] {
  const names = [...ignoredMembers(schema, body), ...ignoredWords(body)];
  const lowered = loweredMaximum(body, countPrompt(body));
  if (lowered === undefined) return names;
  const order = Object.keys(body);
  const before = names.filter((name) => order.indexOf(name.split(/[.[]/)[0] ?? "") < order.indexOf(lowered));
  return names.toSpliced(before.length, 0, lowered);
}

/** A server without a bug records nothing of a refusal. */
function refuse({ world, key }: Call, violation: Violation): Reply {
  const reply = errorReply(violation);
  if (world.mutant.flags?.has("refusals-recorded") !== true) return reply;
  const id = newRequestId();
  const row = { id, prompt_tokens: 1, completion_tokens: 0, cost_usd: "0.01", outcome: "failed" } as const;
  world.rows.push(row);
  keepReceipt(world, key, row, {});
  return { ...reply, headers: { ...reply.headers, "x-request-id": id } };
}

/** Every fault of a body, in the order of the contract. */
function judge(body: unknown, text: string, { head, key }: Call): Violation | undefined {
  const found = findViolation(schema, body);
  if (found) return found;
  if (!isRecord(body)) return undefined;
  for (const depend of dependencies) {
    const broken = depend(body, text);
    if (broken) return broken;
  }
  const isStrict = head.headers["x-strict-params"]?.toLowerCase() === "true";
  const [ignored] = [...ignoredMembers(schema, body), ...ignoredWords(body)];
  if (ignored !== undefined && isStrict) return withoutEffect(ignored);
  if (!isOffered(String(body["model"]), key)) return unknownModel(String(body["model"]), key);
  const lowered = isStrict ? loweredMaximum(body, countPrompt(body)) : undefined;
  return overflow(body) ?? (lowered === undefined ? undefined : withoutEffect(lowered));
}

const withoutEffect = (name: string): Violation => fault("unknown_parameter", name, `${name} would have no effect.`);

function overflow(body: Body): Violation | undefined {
  const prompt_tokens = countPrompt(body);
  if (prompt_tokens < contextLength) return undefined;
  const asked = body["max_completion_tokens"] ?? body["max_tokens"];
  const message = `This model's maximum context length is ${contextLength} tokens, and the messages have ${prompt_tokens}: the prompt is too long.`;
  return {
    ...fault("context_length_exceeded", "messages", message),
    details: {
      context_length: contextLength,
      prompt_tokens,
      max_completion_tokens: Math.min(typeof asked === "number" ? asked : 16_384, 16_384),
    },
  };
}

export function formatName(name: string): string {
  return Array.from(Buffer.from(name).subarray(0, 128), (byte) =>
    byte < 0x21 || byte > 0x7e || byte === 0x2c ? "?" : String.fromCharCode(byte),
  ).join("");
}

/** The nesting depth of a JSON text, not counting brackets inside strings. */
function levelsOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [one] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (one === "[" || one === "{") depth += 1;
    if (one === "]" || one === "}") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Every value inside and the value itself. */
const countValues = (value: unknown): number =>
  1 +
  Object.values(typeof value === "object" && value !== null ? value : {}).reduce(
    (sum, one) => sum + countValues(one),
    0,
  );

/** Removes every `n` but the first, like a parser that keeps the first of equal members. */
function dropRepeated(text: string): string {
  const [first] = /"n":\d/.exec(text) ?? [];
  const start = first === undefined ? text.length : text.indexOf(first) + first.length;
  return text.slice(0, start) + text.slice(start).replaceAll(/,"n":\d(\.\d)?/g, "");
}
