import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { clauses } from "../../src/contract/contract.ts";
import { allMutants } from "../kill.ts";
import type { SeededMutant } from "../kill.ts";
import { calls } from "./calls.ts";
import type { Call } from "./calls.ts";
import { differenceOf, weightOf } from "./compare.ts";
import { toMarkdown } from "./markdown.ts";
import type { Proof, Proofs } from "./proofs.ts";
import type { Sdk } from "./sdk.ts";
import { foreignSdks, nodeSdks } from "./sdks.ts";
import { observe } from "./target.ts";
import type { Observed } from "./target.ts";
import { wire } from "./wire.ts";

/**
 * Proves the marks `openai` of the clauses: makes the same calls with every SDK to the reference server, with and without a
 * seeded bug, and records what a user of the SDK sees of it. `pnpm prove:sdks [--sdk NAME,…] [--only CLAUSE|BUG,…]`. Findings
 * about clauses without a mark are printed only.
 */
const { values } = parseArgs({ options: { sdk: { type: "string" }, only: { type: "string" } } });
const wanted = (list: string | undefined, ...names: readonly string[]): boolean =>
  list === undefined || list.split(",").some((one) => names.includes(one));

const file = fileURLToPath(new URL("sdk-proofs.json", import.meta.url));
const page = fileURLToPath(new URL("../SDK-PROOFS.md", import.meta.url));
const quick = calls.filter((call) => call.only === undefined);
/** Calls whose heads matter: each SDK has its own. */
const heads = new Set(["the models", "a text", "a text, streamed", "a named call, collected", "no key"]);

const sdks = [...nodeSdks(), ...foreignSdks()].filter(({ name }) => wanted(values.sdk, name));
const bare = await observe(wire, quick);
const kept = new Map<string, Observed>();
for (const sdk of sdks) for (const [name, found] of await observe(sdk, quick)) kept.set(`${sdk.name} ${name}`, found);

/** The calls whose bare exchange a bug changes, and those that are made for its clause. */
async function affected({ clause, mutant }: SeededMutant): Promise<readonly Call[]> {
  const seen = await observe(wire, quick, mutant);
  const isChanged = ({ name }: Call): boolean =>
    JSON.stringify(seen.get(name)) !== JSON.stringify(bare.get(name)) ||
    (/^(?:HTTP|AUTH)-/.test(clause.id) && heads.has(name));
  return fewOf(calls.filter((call) => call.only?.test(clause.id) ?? isChanged(call)));
}

/** The first, the middle and the last call of each method: a bug that changes all answers needs no more. */
const fewOf = (tried: readonly Call[]): readonly Call[] =>
  tried.filter((call) => {
    const alike = tried.filter(({ method }) => method === call.method);
    const place = alike.indexOf(call);
    return call.only !== undefined || [0, Math.floor(alike.length / 2), alike.length - 1].includes(place);
  });

async function keptBy(sdk: Sdk, call: Call): Promise<Observed | undefined> {
  const key = `${sdk.name} ${call.name}`;
  const seen = kept.get(key) ?? (await observe(sdk, [call])).get(call.name);
  if (seen) kept.set(key, seen);
  return seen;
}

/** The most telling difference that a bug makes for an SDK, if a second try shows it again. */
async function prove(
  sdk: Sdk,
  { bug, clause, mutant }: SeededMutant,
  tried: readonly Call[],
): Promise<Proof | undefined> {
  const seen = await observe(sdk, tried, mutant);
  const found: { readonly call: Call; readonly before: Observed; readonly sees: string }[] = [];
  for (const call of tried) {
    const [before, after] = [await keptBy(sdk, call), seen.get(call.name)];
    const sees = before && after && differenceOf(before, after, call.mustFail);
    if (before && sees !== undefined) found.push({ call, before, sees });
  }
  for (const { call, before, sees } of found
    .toSorted((one, other) => weightOf(other.sees) - weightOf(one.sees))
    .slice(0, 3)) {
    const again = (await observe(sdk, [call], mutant)).get(call.name);
    const without = (await observe(sdk, [call])).get(call.name);
    const isSteady = without !== undefined && differenceOf(before, without, call.mustFail) === undefined;
    if (again && isSteady && differenceOf(before, again, call.mustFail) === sees)
      return { clause: clause.id, bug, sdk: sdk.name, call: call.name, sees };
  }
  return undefined;
}

const marked = new Set(clauses.filter(({ openai }) => openai !== undefined).map(({ id }) => id));
const known: Proofs = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Proofs) : { sdks: {}, proofs: [] }; // what this program wrote
const all = new Map(known.proofs.map((proof) => [`${proof.bug} ${proof.sdk}`, proof]));
const versions = { ...known.sdks, ...Object.fromEntries(sdks.map(({ name, version }) => [name, version])) };

function write(): void {
  const order = allMutants.flatMap(({ bug }) => Object.keys(versions).map((name) => `${bug} ${name}`));
  const proofs = order.flatMap((key) => all.get(key) ?? []).filter(({ clause }) => marked.has(clause));
  const lines = proofs.map((proof) => `    ${JSON.stringify(proof)}`).join(",\n");
  writeFileSync(file, `{\n  "sdks": ${JSON.stringify(versions)},\n  "proofs": [\n${lines}\n  ]\n}\n`);
  writeFileSync(page, toMarkdown({ sdks: versions, proofs }));
}

for (const one of allMutants.filter(({ bug, clause }) => wanted(values.only, bug, clause.id))) {
  const tried = await affected(one);
  const proofs = tried.length === 0 ? [] : await Promise.all(sdks.map((sdk) => prove(sdk, one, tried)));
  sdks.forEach(({ name }, place) => {
    const proof = proofs[place];
    if (proof) all.set(`${one.bug} ${name}`, proof);
    else all.delete(`${one.bug} ${name}`);
    if (proof) process.stdout.write(`${JSON.stringify(proof)}\n`);
  });
  write();
}
process.exit(0);
