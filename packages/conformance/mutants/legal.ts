import { isRecord, listAt } from "../src/judge/read.ts";
import { limit } from "../src/contract/contract.ts";
import { respelled } from "./legal-relay.ts";
import type { Spelling } from "./legal-relay.ts";
import { chunked, deltaOf, misreported, streamed, withHeaders, withPieces } from "./seeded-bugs/mutate.ts";
import type { Outgoing } from "./reference/answers.ts";
import type { Mutant } from "./reference/mutant.ts";

const text = (data: unknown): string => (typeof data === "string" ? data : JSON.stringify(data));
const spelled = (spell: (text: string) => string): Mutant => streamed((data) => [{ raw: spell(text(data)) }]);

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}

/** Every object with an unknown member. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown);
  // An empty object stays empty: it is the delta of the last event.
  if (!isRecord(value) || Object.keys(value).length === 0) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, grown(inner)]);
  return { ...Object.fromEntries(members), x_conformance: { any: ["thing"] } };
}

/** All texts of a stream in one event, with all of their entries. */
function inOnePiece(): Mutant {
  return {
    stream: async function* (events) {
      const held = new Map<unknown, Record<string, unknown>>();
      for await (const event of events) {
        const [choice] = "data" in event ? listAt(event.data, "/choices") : [];
        const delta = isRecord(choice) ? choice["delta"] : undefined;
        const content = isRecord(delta) && !("role" in delta) ? delta["content"] : undefined;
        if ("data" in event && isRecord(event.data) && isRecord(choice) && typeof content === "string") {
          held.set(choice["index"], joined(held.get(choice["index"]), event.data, choice, content));
          continue;
        }
        if (isRecord(choice)) yield* flush(held, choice["index"]);
        yield event;
      }
    },
  };
}

function* flush(held: Map<unknown, Record<string, unknown>>, index: unknown): Generator<Outgoing> {
  const data = held.get(index);
  held.delete(index);
  if (data) yield { data };
}

function joined(
  before: Record<string, unknown> | undefined,
  data: Record<string, unknown>,
  choice: Record<string, unknown>,
  content: string,
): Record<string, unknown> {
  const [earlier] = listAt(before, "/choices");
  const text = isRecord(earlier) && isRecord(earlier["delta"]) ? String(earlier["delta"]["content"]) : "";
  const entries = [...listAt(earlier, "/logprobs/content"), ...listAt(choice, "/logprobs/content")];
  const logprobs = choice["logprobs"] === null ? null : { content: entries };
  return { ...data, choices: [{ ...choice, logprobs, delta: { content: text + content } }] };
}

/** Unusual but legal behaviour: no clause may fail with it. */
export const legal: Readonly<Record<string, Mutant>> = {
  "lines end in CRLF": spelled((data) => `data: ${data}\r\n\r\n`),
  "no blank behind data:": spelled((data) => `data:${data}\n\n`),
  "comments between events": spelled((data) => `: still here\n\ndata: ${data}\n\n:\n\n`),
  "every character on its own": streamed((data) => Array.from(`data: ${text(data)}\n\n`, (one) => ({ raw: one }))),
  "more headers than asked for": withHeaders((headers) => ({ ...headers, "x-conformance": "1", server: "reference" })),
  "members in another order": {
    completion: reversed,
    ...streamed((data) => [
      typeof data === "string" ? data : { data: Object(reversed(data)) as Record<string, unknown> },
    ]), // an object stays one
  },
  "more members in every answer": {
    completion: grown,
    ...streamed((data) => [typeof data === "string" ? data : { data: Object(grown(data)) as Record<string, unknown> }]), // an object stays one
  },
  "records with more members": { models: (records) => records.map((record) => ({ ...record, region: "eu" })) },
  "all text in one event": inOnePiece(),
};

/** A legal behaviour: of the server itself, or of the way in which its answers are written. */
export interface LegalVariation {
  readonly title: string;
  readonly mutant: Mutant;
  readonly spelling?: Spelling;
  /** True if this contract forbids it, and other OpenAI-compatible servers may do it. */
  readonly isForOthers?: true;
}

const tooLarge = JSON.stringify({
  error: { message: "The body is too large.", type: "invalid_request_error", param: null, code: "request_too_large" },
  request_id: "req_early",
});
const maxBytes = limit("maxBodyBytes");
const refusesEarly = (isReset: boolean): Spelling => ({ early413: { maxBytes, isReset, body: tooLarge } });
const withContentType = (name: string, value: string): string =>
  name === "content-type" ? `${value}; charset=utf-8` : value;
const otherId = (json: Record<string, unknown>): Record<string, unknown> => ({
  ...json,
  id: String(json["id"]).replaceAll(/(?<!chatcmpl)-/g, "~.!"),
});
const isPlainText = (choice: Record<string, unknown>): boolean =>
  choice["logprobs"] === null && typeof deltaOf(choice)["content"] === "string" && !("role" in deltaOf(choice));

/** Every text in two events, with an event of no text between them. */
const halved = streamed((data) => {
  const [choice] = typeof data === "string" ? [] : listAt(data, "/choices");
  if (typeof data === "string" || !isRecord(choice) || !isPlainText(choice)) return [data];
  const characters = Array.from(String(deltaOf(choice)["content"]));
  const texts = [characters.slice(0, 2).join(""), "", characters.slice(2).join("")];
  return texts.map((text) => ({ ...data, choices: [{ ...choice, delta: { content: text } }] }));
});

const spelling = (title: string, one: Spelling): LegalVariation => ({ title, mutant: {}, spelling: one });
const forOthers = (title: string, mutant: Mutant): LegalVariation => ({ title, mutant, isForOthers: true });

/** Every legal variation: those above, those that a relay or another server makes, and those that only other servers may have. */
export const legalVariations: readonly LegalVariation[] = [
  ...Object.entries(legal).map(([title, mutant]) => ({ title, mutant })),
  spelling("names of headers in capitals", { headerName: (name) => name.toUpperCase() }),
  spelling("every connection closes, and says so", { closes: true }),
  spelling("an interim answer 103 comes first", { interim: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" }),
  spelling("chunks of three bytes, with extensions and a trailer", { chunkBytes: 3 }),
  spelling("a body ends with its connection", { endsWithConnection: true }),
  spelling("no reason phrase, and blanks around values", { reason: "", headerValue: (_name, value) => ` ${value}\t ` }),
  spelling("JSON with other white space and escapes", { json: respelled }),
  spelling("a large body is refused by its head, and the connection closes", refusesEarly(false)),
  spelling("a large body is refused by its head, and the connection is reset", refusesEarly(true)),
  spelling("media types with a charset", { headerValue: withContentType }),
  { title: "ids of another form", mutant: { completion: otherId, ...chunked(otherId) } },
  { title: "texts in halves, and empty ones between", mutant: halved },
  {
    title: "errors with more words and members",
    mutant: misreported((error) => ({ ...error, message: `${String(error["message"])} See the guide.`, hint: "x" })),
  },
  forOthers(
    "a role in every event",
    withPieces((choice) => ({ ...choice, delta: { role: "assistant", ...deltaOf(choice) } })),
  ),
  forOthers(
    "usage null in every event",
    chunked((chunk) => ({ usage: null, ...chunk })),
  ),
  forOthers(
    "the last delta has an empty text",
    withPieces((choice) =>
      typeof choice["finish_reason"] === "string" ? { ...choice, delta: { content: "" } } : choice,
    ),
  ),
  forOthers("errors without a code and a param", {
    ...misreported((error) => ({ ...error, code: null, param: null })),
  }),
];
