import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startTestServer, testKey } from "@parley/server/testing";
import { isInstalled, languages } from "./languages.ts";
import type { Language } from "./languages.ts";

// The readers of the guide "Read a stream in your language". Each must find what cases.yaml lists, however a stream is cut.

interface Case {
  readonly name: string;
  readonly stream: string;
  readonly line_end?: string;
  readonly finds: readonly string[];
}

type Pieces = readonly Uint8Array[];

const positions = (bytes: Uint8Array): number[] => [...bytes.keys(), bytes.length];
const cutAt = (bytes: Uint8Array, place: number): Pieces => [bytes.subarray(0, place), bytes.subarray(place)];
const cutEverywhere = (bytes: Uint8Array): Pieces => [...bytes].map((byte) => Uint8Array.of(byte));

const written = readFileSync(join(import.meta.dirname, "cases.yaml"), "utf8");
const cases = (parse(written) as readonly Case[]).map(({ name, stream, line_end = "\n", finds }) => ({
  name,
  bytes: Buffer.from(stream.replaceAll("\n", line_end)),
  finds,
}));

/** The contract's own transcripts, by their file names. */
const examples = join(import.meta.dirname, "../../openapi/examples");
const transcripts = readdirSync(examples)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => {
    const bytes = readFileSync(join(examples, name));
    return { name, pieces: cutEverywhere(bytes), events: bytes.toString().match(/^data: /gm)?.length ?? 0 };
  });

/** Returns the findings in the first bytes of a stream: the complete events and, unless these are all, the break. */
function findsIn(beginning: Uint8Array, finds: readonly string[]): readonly string[] {
  const lines = new TextDecoder().decode(beginning).split(/\r\n|\n|\r/);
  let complete = 0;
  let hasData = false;
  for (const line of lines.slice(0, -1)) {
    if (line.startsWith("data:")) hasData = true;
    if (line !== "" || !hasData) continue;
    complete += 1;
    hasData = false;
  }
  return complete === finds.length ? finds : [...finds.slice(0, complete), "truncated"];
}

/** A stream as pieces, and the findings that a reader must have. */
interface Feed {
  readonly pieces: Pieces;
  readonly finds: readonly string[];
}

const feedsOf = ({ bytes, finds }: (typeof cases)[number]): { readonly cut: Feed[]; readonly broken: Feed[] } => ({
  cut: [cutEverywhere(bytes), ...positions(bytes).map((place) => cutAt(bytes, place))].map((pieces) => ({
    pieces,
    finds,
  })),
  broken: positions(bytes).map((place) => {
    const beginning = bytes.subarray(0, place);
    return { pieces: [beginning], finds: findsIn(beginning, finds) };
  }),
});

const feeds = cases.map((one) => ({ name: one.name, ...feedsOf(one) }));
const all = [
  ...feeds.flatMap(({ cut, broken }) => [...cut, ...broken].map(({ pieces }) => pieces)),
  ...transcripts.map(({ pieces }) => pieces),
];

const missingFor = ({ needs }: Language): string => needs.filter((program) => !isInstalled(program)).join(" and ");

for (const language of languages) {
  const missing = missingFor(language);
  const wish = missing === "" ? "" : ` (it would run with ${missing} installed)`;
  describe.skipIf(missing !== "")(`in ${language.name}${wish}`, () => {
    let scratch: string;
    /** The findings in each stream. One process reads all streams. */
    let found: ReadonlyMap<Pieces, readonly string[]>;
    beforeAll(async () => {
      scratch = mkdtempSync(join(tmpdir(), "parley-reader-"));
      language.build(scratch);
      const lines = all.map((pieces) => pieces.map((piece) => Buffer.from(piece).toString("hex")).join(" "));
      const answers = await runProgram(language.command("feed", scratch), lines);
      found = new Map(all.map((pieces, index) => [pieces, JSON.parse(answers[index] ?? "[]") as string[]]));
    }, 300_000);
    afterAll(() => rmSync(scratch, { recursive: true }));

    const foundIn = (given: readonly Feed[]) => given.map(({ pieces }) => found.get(pieces));

    test.each(feeds)("$name: cut at every position, and byte by byte", ({ cut }) => {
      expect(foundIn(cut)).toEqual(cut.map(({ finds }) => finds));
    });

    test.each(feeds)("$name: ended at every position", ({ broken }) => {
      expect(foundIn(broken)).toEqual(broken.map(({ finds }) => finds));
    });

    test.each(transcripts)("the contract's $name, byte by byte", ({ name, events, pieces }) => {
      expect(found.get(pieces)).toHaveLength(events);
      expect(found.get(pieces)?.at(-1)).toMatch(name === "stream-error.sse" ? /^upstream_error req_/ : /^done$/);
    });

    test("the example sends a request to a server and prints the answer", async () => {
      await using server = await startTestServer();
      const environment = { PARLEY_URL: server.baseUrl, PARLEY_KEY: testKey };
      const printed = await runProgram(language.command("ask", scratch), [], environment);
      expect(printed.join("\n")).toContain("You said: What is a reentrancy attack?");
    });
  });
}

/** Runs a program with these input lines and returns its output lines. */
async function runProgram(
  [file, ...args]: ReturnType<Language["command"]>,
  lines: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const child = spawn(file, args, { env: { ...process.env, ...environment }, stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const [printed, troubles, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect([exitCode, troubles]).toEqual([0, ""]);
  return printed.split("\n").slice(0, -1);
}
