import { valueAt, isRecord, listAt, numberAt, textAt } from "../../src/judge/read.ts";

type Body = Readonly<Record<string, unknown>>;

/** A token that was written, and its alternatives. */
export interface Token {
  readonly text: string;
  readonly logprob: number;
  readonly top: readonly { readonly text: string; readonly logprob: number }[];
}

/** The answer of the toy model to a request, before the token limit. */
export interface ToyAnswer {
  readonly reasoning: readonly string[];
  readonly tokens: readonly Token[];
  readonly call: { readonly name: string; readonly pieces: readonly string[] } | undefined;
}

const vocabularySize = 4096;
const letters = "abcdefghijklmnopqrstuvwxyz";

/** The text of a token id: a short word of its own. */
const wordOf = (id: number): string =>
  ` ${letters[id % 26]}${letters[Math.floor(id / 26) % 26]}${letters[Math.floor(id / 676) % 26]}`;

export function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return value >>> 0;
}

const textOfContent = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part) => textAt(part, "/text") ?? "").join("")
    : typeof content === "string"
      ? content
      : "";

/** The roles as the model sees them: system messages in front, developers among them. */
export function conversationOf(body: Body): readonly { readonly role: string; readonly text: string }[] {
  const messages = (Array.isArray(body["messages"]) ? body["messages"] : []).map((message) => ({
    role: valueAt(message, "/role") === "developer" ? "system" : String(valueAt(message, "/role")),
    text:
      textOfContent(valueAt(message, "/content")) +
      listAt(message, "/tool_calls")
        .map((call) => textAt(call, "/function/arguments") ?? "")
        .join(""),
  }));
  return [...messages.filter(({ role }) => role === "system"), ...messages.filter(({ role }) => role !== "system")];
}

/** Four bytes are a token, and every message costs four more. */
export const countPrompt = (body: Body): number =>
  conversationOf(body).reduce((sum, { text }) => sum + 4 + Math.ceil(Buffer.byteLength(text) / 4), 3);

/** The answer without a token limit. It is the same every time at temperature 0, and with a seed. */
export function answerOf(body: Body, choice: number): ToyAnswer {
  const effort = body["reasoning_effort"] ?? "none";
  const reasoning = effort === "none" ? [] : ["Let", " me", " weigh", " this"];
  const call = forcedCall(body);
  if (call) return { reasoning, tokens: [], call };
  const form = valueAt(body, "/response_format/type");
  if (form === "json_schema" || form === "json_object")
    return { reasoning, tokens: pieces(JSON.stringify(formValue(body))).map(plainToken), call: undefined };
  return { reasoning, tokens: speak(body, choice), call: undefined };
}

const plainToken = (text: string): Token => ({ text, logprob: -0.1, top: [{ text, logprob: -0.1 }] });
export const pieces = (text: string): string[] => text.match(/\s*[^\s]{1,6}/gu) ?? [];

function formValue(body: Body): unknown {
  const schema = valueAt(body, "/response_format/json_schema/schema");
  return schema === undefined ? { text: "some" } : smallest(schema, schema);
}

function speak(body: Body, choice: number): Token[] {
  const prompt = conversationOf(body)
    .map(({ role, text }) => `${role}:${text}`)
    .join("\n");
  const length = 18 + (hash(prompt) % 6);
  const seed = typeof body["seed"] === "number" ? `${body["seed"]}+${choice}` : String(Math.random());
  const tokens: Token[] = [];
  for (let place = 0; place < length; place += 1) tokens.push(pick(body, `${prompt}|${place}`, `${seed}|${place}`));
  return tokens;
}

/** Eight candidates, the likeliest first; a bias shifts their scores, and may bring in others. */
function pick(body: Body, context: string, dice: string): Token {
  const bias = isRecord(body["logit_bias"]) ? body["logit_bias"] : {};
  const own = Array.from({ length: 8 }, (_, rank) => ({
    id: hash(`${context}#${rank}`) % vocabularySize,
    score: -rank * 0.7,
  }));
  const biased = own.map(({ id, score }) => ({ id, score: score + (numberAt(bias, `/${id}`) || 0) }));
  const forced = Object.entries(bias).flatMap(([id, value]) =>
    Number(value) > 0 && Number(id) < vocabularySize ? [{ id: Number(id), score: Number(value) - 9 }] : [],
  );
  const candidates = [...biased, ...forced].toSorted((one, other) => other.score - one.score);
  const isCertain =
    (body["temperature"] ?? 1) === 0 ||
    body["top_k"] === 1 ||
    body["min_p"] === 1 ||
    (typeof body["top_p"] === "number" && body["top_p"] < 0.01);
  const rank = isCertain || forced.length > 0 ? 0 : hash(dice) % 3;
  const written = candidates[rank] ?? candidates[0];
  const top = own.map(({ id }, index) => ({ text: wordOf(id), logprob: -0.3 - index * 0.7 }));
  const text = wordOf(written?.id ?? 0);
  return { text, logprob: top.find((one) => one.text === text)?.logprob ?? -9, top };
}

function forcedCall(body: Body): ToyAnswer["call"] {
  const { tools, tool_choice: choice } = body;
  const list = Array.isArray(tools) ? tools : [];
  const wanted = textAt(choice, "/function/name");
  const tool =
    wanted === undefined
      ? choice === "required"
        ? list[0]
        : undefined
      : list.find((one) => valueAt(one, "/function/name") === wanted);
  if (tool === undefined) return undefined;
  const parameters = valueAt(tool, "/function/parameters");
  return {
    name: textAt(tool, "/function/name") ?? "",
    pieces: pieces(JSON.stringify(parameters === undefined ? {} : smallest(parameters, parameters))),
  };
}

/** Returns whether a value matches a format, for the formats that the suite sends. Numbers that a double would change are out of all ranges. */
function keepsFormat(value: unknown, format: unknown): boolean {
  if (isRecord(value)) return format !== "int64";
  if (format === "byte") return typeof value !== "string" || value.length % 4 === 0;
  return typeof value !== "number" || !(String(format) in largest) || value <= Number(largest[String(format)]);
}
const largest: Readonly<Record<string, number>> = { int32: 2 ** 31 - 1, int64: 2 ** 63 - 1025, float: 3.5e38 };

/** The smallest value that a schema allows. */
export function smallest(schema: unknown, root: unknown): unknown {
  const one = isRecord(schema) ? schema : {};
  if (typeof one["$ref"] === "string") return smallest(valueAt(root, one["$ref"].slice(1)), root);
  if ("const" in one) return one["const"];
  if (Array.isArray(one["enum"])) return one["enum"].find((value) => keepsFormat(value, one["format"]));
  if (Array.isArray(one["anyOf"])) return smallest(one["anyOf"][0], root);
  const [type] = [one["type"] ?? (isRecord(one["properties"]) ? "object" : "string")].flat();
  if (type === "object") {
    const required = Array.isArray(one["required"]) ? one["required"].map(String) : [];
    return Object.fromEntries(required.map((name) => [name, smallest(valueAt(one["properties"], `/${name}`), root)]));
  }
  if (type === "array") return [];
  if (type === "boolean") return false;
  if (type === "null") return null;
  return type === "integer" || type === "number" ? Number(one["minimum"] ?? 0) : "x";
}
