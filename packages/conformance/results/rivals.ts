import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { clauses } from "../src/contract/contract.ts";
import { allMutants } from "../mutants/kill.ts";
import type { Kill } from "../mutants/kill.ts";
import type { Mutant } from "../mutants/reference/mutant.ts";
import { startSubject } from "../mutants/subject.ts";
import { manifest } from "./product.ts";
import { writeLines } from "./result.ts";

/**
 * Runs other testers of OpenAI-compatible services over the seeded bugs, and writes the share that each flags:
 * `rivals.ts [SET] [FOLDER] [COUNT]`. A tester flags a bug if one of its checks fails or warns that does neither on the reference
 * server without bugs.
 */

interface Rival {
  readonly name: string;
  readonly version: string;
  readonly from: string;
  readonly install: string;
  readonly command: (folder: string, baseUrl: string) => readonly [string, ...string[]];
  /** Lists the checks that fail or warn. */
  readonly complaints: (report: Readonly<Record<string, unknown>>) => readonly string[];
}

const model = "reference/toy";
type Row = Readonly<Record<string, unknown>>;
const complaintsIn = (rows: unknown): string[] =>
  (Array.isArray(rows) ? (rows as readonly Row[]) : []) // the reports of both are lists of objects
    .filter(({ status }) => status !== "pass" && status !== "skip")
    .map(({ id, status }) => `${String(id)} ${String(status)}`);

const rivals: readonly Rival[] = [
  {
    name: "compatcanary",
    version: "0.2.2",
    from: "npm",
    install: 'cd "$FOLDER" && npm install --silent --no-audit --no-fund --ignore-scripts',
    command: (folder, baseUrl) => [
      join(folder, "node_modules/.bin/compatcanary"),
      "scan",
      "--base-url",
      baseUrl,
      "--model",
      model,
      "--profile",
      "chat",
      "--format",
      "json",
    ],
    complaints: ({ results }) => complaintsIn(results),
  },
  {
    name: "trustedrouter-provider-check",
    version: "0.1.8",
    from: "PyPI",
    install:
      'python3.11 -m venv "$FOLDER/venv" && "$FOLDER/venv/bin/pip" install --quiet trustedrouter-provider-check==0.1.8',
    command: (folder, baseUrl) => [
      join(folder, "venv/bin/trustedrouter-provider-check"),
      "--base-url",
      baseUrl,
      "--model",
      model,
      "--tier",
      "5",
      "--max-sweep-models",
      "1",
      "--json",
      "-",
    ],
    complaints: ({ checks }) => complaintsIn(checks),
  },
];

/** Runs a tester against the reference server with one bug. A tester that ends without a report complains, too. */
async function complaintsOf(rival: Rival, folder: string, mutant: Mutant): Promise<readonly string[]> {
  await using server = await startSubject(mutant);
  const key = server.secrets.get("key") ?? "";
  const [program, ...args] = rival.command(folder, server.baseUrl);
  const env = { ...process.env, OPENAI_API_KEY: key, TR_PROVIDER_API_KEY: key };
  const output = await new Promise<string>((done) => {
    execFile(program, args, { env, timeout: 120_000, maxBuffer: 1e8 }, (_error, stdout) => done(stdout));
  });
  try {
    return rival.complaints(JSON.parse(output) as Row); // their report is an object
  } catch {
    return ["no report"];
  }
}

const [set = "2026-12", given, count = String(allMutants.length)] = process.argv.slice(2);
const work = given === undefined ? mkdtempSync(join(tmpdir(), "parley-rivals-")) : resolve(given);
const own = JSON.parse(
  readFileSync(new URL("../mutants/kill-matrix.json", import.meta.url), "utf8"),
) as readonly Kill[]; // `kill-matrix.ts` wrote it
const mutants = allMutants.slice(0, Number(count));
const levelOf = new Map(clauses.map(({ id, level }) => [id, level]));
const openai = new Set(clauses.flatMap((clause) => (clause.openai === undefined ? [] : [clause.id])));

/** The bugs that a tester flags, counted by level, and among the clauses of the profile `openai`. */
function shareOf(flagged: ReadonlySet<string>): object {
  const byLevel: Record<string, string> = {};
  for (const level of new Set(levelOf.values())) {
    const all = mutants.filter(({ clause }) => clause.level === level);
    byLevel[level] = `${all.filter(({ bug }) => flagged.has(bug)).length} of ${all.length}`;
  }
  const common = mutants.filter(({ clause }) => openai.has(clause.id));
  return {
    flagged: flagged.size,
    byLevel,
    openai: `${common.filter(({ bug }) => flagged.has(bug)).length} of ${common.length}`,
  };
}

/** The testers mostly wait, so several run at the same time. */
const atOnce = 3;

const rows: object[] = [];
const ownFlagged = (isShort: boolean): ReadonlySet<string> =>
  new Set(
    own
      .filter(({ clause, killedBy, isExhaustive }) => killedBy.includes(clause) && !(isShort && isExhaustive))
      .map(({ bug }) => bug),
  );
for (const isShort of [true, false])
  rows.push({
    name: `parley-conformance run${isShort ? "" : " --exhaustive"}`,
    ...shareOf(new Set([...ownFlagged(isShort)].filter((bug) => mutants.some((one) => one.bug === bug)))),
  });
for (const rival of rivals) {
  const folder = join(work, rival.name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest({ compatcanary: "0.2.2" }));
  execFileSync("bash", ["-ec", rival.install], { env: { ...process.env, FOLDER: folder }, stdio: ["ignore", 2, 2] });
  const clean = await complaintsOf(rival, folder, {});
  const flagged = new Set<string>();
  const beganMs = performance.now();
  const queue = [...mutants];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const complaints = await complaintsOf(rival, folder, next.mutant);
        const found = complaints.filter((one) => !clean.includes(one));
        if (found.length > 0) flagged.add(next.bug);
        process.stderr.write(`${rival.name} ${next.bug}: ${found.join(", ") || "–"}\n`);
      }
    }),
  );
  const seconds = Math.round(((performance.now() - beganMs) * atOnce) / 100 / mutants.length) / 10;
  const { name, version, from } = rival;
  rows.push({
    name,
    version,
    from,
    secondsPerRun: seconds,
    complaintsWithoutBugs: clean,
    ...shareOf(flagged),
    bugs: [...flagged],
  });
}
const file = fileURLToPath(new URL(`${set}/rivals.json`, import.meta.url));
writeLines(file, { set, date: new Date().toISOString().slice(0, 10), bugs: mutants.length, testers: rows });
if (given === undefined) rmSync(work, { recursive: true });
process.exit(0);
