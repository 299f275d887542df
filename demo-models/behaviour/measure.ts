import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ask } from "./ask-server.ts";
import { isRight } from "./judge-answer.ts";
import type { Answer } from "./judge-answer.ts";
import { readMessages, readSkills } from "./read-requests.ts";
import type { Case } from "./read-requests.ts";

/**
 * Runs the whole examination against a server, at temperature 0 and at the default sampling with fixed seeds, and prints the
 * table of its behaviour: `node demo-models/behaviour/measure.ts --key KEY [--model ID]… [--first N] [--skills N] [--at-once N]`
 */
const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8080/v1" },
    key: { type: "string", default: process.env["PARLEY_KEY"] ?? "" },
    model: { type: "string", multiple: true, default: ["vendor/model-1", "vendor/model-1-mini"] },
    first: { type: "string" },
    skills: { type: "string" },
    cap: { type: "string", default: "400" },
    "at-once": { type: "string", default: "1" },
    answers: { type: "string" },
  },
});

interface Asked {
  readonly asked: Case;
  readonly answer: Answer;
  readonly right: boolean;
}

type Row = readonly [title: string, wanted: string, cell: (all: readonly Asked[]) => string];

const sampled = { "temperature 0": () => ({ temperature: 0 }), default: (seed: number) => ({ seed }) } as const;

const share = (group: RegExp, isCounted = ({ right }: Asked): boolean => right) => {
  const count = (all: readonly Asked[]): string => {
    const some = all.filter(({ asked }) => group.test(asked.group));
    if (some.length === 0) return "–";
    return `${((100 * some.filter(isCounted).length) / some.length).toFixed(0)} % of ${some.length}`;
  };
  return count;
};

const rows: readonly Row[] = [
  ["answers that run to the cap", "0", share(/./, ({ answer }) => answer.finish === "length")],
  ["structured output that ends and is valid", "≥ 95 %", share(/^structured/)],
  ["right call with right arguments", "≥ 90 %", share(/^call/)],
  ["a call where none is right", "≤ 2 %", share(/^no call/, ({ answer }) => answer.calls.length > 0)],
  ["system message followed", "≥ 80 %", share(/^system/)],
  ["tool result retold truthfully", "≥ 95 %", share(/^tool result/)],
  ["greetings and thanks answered", "", share(/^(greeting|thanks)/)],
  ["typos and lower case answered", "", share(/^(typo|lower case)/)],
  ["Web3 questions and follow-ups answered", "", share(/^(web3|follow-up)/)],
  [
    "median tokens",
    "< 80",
    (all) => String(all.map(({ answer }) => answer.tokens).toSorted((a, b) => a - b)[all.length >> 1]),
  ],
];

/** Takes every n-th case, so that a sample has cases of every group. */
function sample(all: readonly Case[], most: string | undefined): Case[] {
  const step = Math.max(1, all.length / Number(most ?? all.length));
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

async function examine(model: string, sampling: keyof typeof sampled, cases: readonly Case[]): Promise<Asked[]> {
  const found: Asked[] = [];
  const waiting = [...cases.entries()];
  const askAll = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [seed, asked] = next;
      const members = { ...sampled[sampling](seed), max_completion_tokens: Number(values.cap) };
      const answer = await ask({ url: values.url, key: values.key, model, members }, asked);
      found.push({ asked, answer, right: isRight(asked, answer) });
      process.stderr.write(`\r${model}, ${sampling}: ${found.length} of ${cases.length}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, askAll));
  process.stderr.write("\n");
  return found;
}

const cases = [...sample(readMessages(), values.first), ...sample(readSkills(), values.skills)];
const columns: { readonly title: string; readonly all: Asked[] }[] = [];
for (const model of values.model) {
  for (const sampling of ["temperature 0", "default"] as const)
    columns.push({ title: `${model}, ${sampling}`, all: await examine(model, sampling, cases) });
}
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
process.stdout.write(line(["figure", "wanted", ...columns.map(({ title }) => title)]));
process.stdout.write(line(Array.from({ length: columns.length + 2 }, () => "---")));
for (const [title, wanted, cell] of rows)
  process.stdout.write(line([title, wanted, ...columns.map(({ all }) => cell(all))]));
if (values.answers !== undefined) writeFileSync(values.answers, JSON.stringify(columns, undefined, 1));
