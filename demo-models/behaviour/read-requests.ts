import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** The check of an answer, in addition to its end before the token cap. */
export type Expectation =
  | { readonly kind: "ends" }
  /** Any answer except the sentences that decline. */
  | { readonly kind: "answered" }
  /** Regular expressions for the content; `isCased` makes them case-sensitive. */
  | { readonly kind: "system"; readonly matches?: string; readonly lacks?: string; readonly isCased: boolean }
  | { readonly kind: "valid"; readonly schema: object }
  /** One call with these arguments. The alternatives in `also` may replace some of them. */
  | { readonly kind: "call"; readonly name: string; readonly arguments: Arguments; readonly also: readonly Arguments[] }
  | { readonly kind: "no call" }
  /** Every regular expression is found in the content. */
  | { readonly kind: "retold"; readonly patterns: readonly string[] };

type Arguments = Readonly<Record<string, unknown>>;

/** One request of the examination, without model and sampling. */
export interface Case {
  readonly group: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly expects: Expectation;
}

/** First messages and conversations. */
export const readMessages = (): Case[] => [...firstMessages(), ...conversations()];

/** Structured output and functions. */
export const readSkills = (): Case[] => [...structured(), ...functions()];

const read = (name: string): unknown => parse(readFileSync(new URL(`${name}.yaml`, import.meta.url), "utf8"));
const user = (content: string): object => ({ role: "user", content });

type Lines = Readonly<Record<string, readonly string[]>>;
const answeredKinds = new Set(["greeting", "thanks", "typo", "lower case", "web3", "about the model"]);

function firstMessages(): Case[] {
  const english = Object.entries(read("first-messages-en") as Lines).flatMap(([kind, says]) =>
    says.map((say): Case => ({
      group: kind,
      body: { messages: [user(expand(say))] },
      expects: { kind: answeredKinds.has(kind) ? "answered" : "ends" },
    })),
  );
  const others = Object.values(read("first-messages-world") as Readonly<Record<string, Lines>>).flatMap((kinds) =>
    Object.values(kinds)
      .flat()
      .map((say): Case => ({ group: "other language", body: { messages: [user(say)] }, expects: { kind: "ends" } })),
  );
  return [...english, ...others];
}

interface Conversations {
  readonly "follow-up": readonly { readonly turns: readonly string[] }[];
  readonly system: readonly {
    readonly system: string;
    readonly user: string;
    readonly matches?: string;
    readonly lacks?: string;
    readonly case?: boolean;
  }[];
}

/** Reads the conversations. The model writes earlier answers itself, because `measure.ts` asks the user turns in order. */
function conversations(): Case[] {
  const { "follow-up": followUps, system } = read("conversations") as Conversations;
  return [
    ...followUps.map(({ turns }): Case => ({
      group: "follow-up",
      body: { messages: turns.map(user) },
      expects: { kind: "answered" },
    })),
    ...system.map(({ system: content, user: say, case: isCased = false, ...patterns }): Case => ({
      group: "system message",
      body: { messages: [{ role: "system", content }, user(say)] },
      expects: { kind: "system", isCased, ...patterns },
    })),
  ];
}

type Structured = readonly {
  readonly schema?: object;
  readonly json_object?: true;
  readonly says: readonly string[];
}[];

const structured = (): Case[] =>
  (read("structured") as Structured).flatMap(({ schema, says }) =>
    says.map((say): Case => ({
      group: "structured output",
      body: {
        messages: [user(say)],
        response_format: schema
          ? { type: "json_schema", json_schema: { name: "answer", schema } }
          : { type: "json_object" },
      },
      expects: { kind: "valid", schema: schema ?? { type: "object" } },
    })),
  );

interface Call {
  readonly name: string;
  readonly arguments: Arguments;
}

interface Functions {
  readonly functions: Readonly<Record<string, { readonly name: string }>>;
  readonly calls: readonly { offer: readonly string[]; say: string; call: Call; also?: readonly Arguments[] }[];
  readonly none: readonly { readonly offer: readonly string[]; readonly says: readonly string[] }[];
  readonly results: readonly {
    readonly offer: string;
    readonly arguments: Arguments;
    readonly ask: string;
    readonly result: object;
    readonly retold: readonly string[];
  }[];
}

function functions(): Case[] {
  const file = read("tools") as Functions;
  const tools = (names: readonly string[]): object[] =>
    names.map((name) => ({ type: "function", function: file.functions[name] }));
  return [
    ...file.calls.map(({ offer, say, call, also = [] }): Case => ({
      group: "call",
      body: { messages: [user(say)], tools: tools(offer) },
      expects: { kind: "call", ...call, also },
    })),
    ...file.none.flatMap(({ offer, says }) =>
      says.map((say): Case => ({
        group: "no call",
        body: { messages: [user(say)], tools: tools(offer) },
        expects: { kind: "no call" },
      })),
    ),
    ...file.results.map(({ offer, arguments: given, ask, result, retold }): Case => ({
      group: "tool result",
      body: { messages: toolTurns(file.functions[offer]?.name ?? "", given, ask, result), tools: tools([offer]) },
      expects: { kind: "retold", patterns: retold },
    })),
  ];
}

function toolTurns(name: string, given: Arguments, ask: string, result: object): object[] {
  const call = { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(given) } };
  return [
    user(ask),
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: JSON.stringify(result) },
  ];
}

const words =
  "vault ledger quorum the of harbour signs seven blocks while our treasury waits for a vote about fees and nobody reads logs at night".split(
    " ",
  );

/** Fills `{hex:N}` and `{words:N}`. The filling depends on the line, and is the same in every run. */
function expand(line: string): string {
  return line.replaceAll(/\{(hex|words):(\d+)\}/g, (place, kind: string, count: string, at: number) => {
    const bytes = bytesOf(`${line}/${at}/${place}`, Number(count));
    if (kind === "hex") return bytes.map((byte) => (byte % 16).toString(16)).join("");
    return bytes.map((byte) => words[byte % words.length]).join(" ");
  });
}

function bytesOf(seed: string, count: number): number[] {
  const blocks = Math.ceil(count / 32);
  return Array.from({ length: blocks }, (_, index) => [...createHash("sha256").update(`${seed}/${index}`).digest()])
    .flat()
    .slice(0, count);
}
