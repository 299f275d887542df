import { isRecord, listAt } from "../src/judge/read.ts";
import { streamed, withHeaders } from "./seeded-bugs/mutate.ts";
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
  "every byte on its own": streamed((data) =>
    Array.from(Buffer.from(`data: ${text(data)}\n\n`).toString("latin1"), (byte) => ({ raw: byte })),
  ),
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
