import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chooseMutants } from "../mutants/choose-mutants.ts";
import { allMutants } from "../mutants/kill.ts";
import { calls } from "../mutants/sdk-proofs/calls.ts";
import { differenceOf } from "../mutants/sdk-proofs/compare.ts";
import { toMarkdown } from "../mutants/sdk-proofs/markdown.ts";
import type { Proofs } from "../mutants/sdk-proofs/proofs.ts";
import { foreignVersions, nodeSdks } from "../mutants/sdk-proofs/sdks.ts";
import { observe } from "../mutants/sdk-proofs/target.ts";
import { clauses } from "../src/contract/contract.ts";

const folder = new URL("../mutants/", import.meta.url);
// `pnpm prove:sdks` wrote it.
const known = JSON.parse(readFileSync(new URL("sdk-proofs/sdk-proofs.json", folder), "utf8")) as Proofs;
const callOf = new Map(calls.map((call) => [call.name, call]));
const mutantOf = new Map(allMutants.map((one) => [one.bug, one]));
const marked = clauses.filter(({ openai }) => openai !== undefined).map(({ id }) => id);

describe("the proofs of the profile openai", () => {
  test("are there for every clause with the mark, and for no other", () => {
    const proven = new Set(known.proofs.map(({ clause }) => clause));
    expect(marked.filter((id) => !proven.has(id))).toEqual([]);
    expect([...proven].filter((id) => !marked.includes(id))).toEqual([]);
  });

  test("name a bug of their clause, a call and an SDK", () => {
    const strays = known.proofs.filter(
      ({ clause, bug, call, sdk }) =>
        mutantOf.get(bug)?.clause.id !== clause || !callOf.has(call) || known.sdks[sdk] === undefined,
    );
    expect(strays).toEqual([]);
  });

  test("are made with the SDKs of the lock file and of the table", () => {
    const versions = Object.fromEntries(nodeSdks().map(({ name, version }) => [name, version]));
    expect(known.sdks).toEqual({ ...versions, ...foreignVersions });
  });

  test("are what the page shows", () => {
    expect(readFileSync(new URL("SDK-PROOFS.md", folder), "utf8")).toBe(toMarkdown(known));
  });
});

/** SDKs of the lock file, and calls that wait for nothing. */
const near = new Map(nodeSdks().map((sdk) => [sdk.name, sdk]));
const repeatable = known.proofs.filter(
  ({ sdk, call, sees }) => near.has(sdk) && callOf.get(call)?.only === undefined && !sees.includes("sends "),
);
const { seed, mutants } = chooseMutants(
  [...new Set(repeatable.map(({ bug }) => bug))].flatMap((bug) => mutantOf.get(bug) ?? []),
  process.env["PARLEY_MUTANTS"],
);
const chosen = repeatable.filter(({ bug }) => mutants.some((one) => one.bug === bug));

describe(`with PARLEY_MUTANTS=${seed}`, () => {
  test.for(chosen)("$bug still breaks $call for $sdk", async ({ bug, call: name, sdk: sdkName, sees }) => {
    const [sdk, call, mutant] = [near.get(sdkName), callOf.get(name), mutantOf.get(bug)?.mutant];
    if (!sdk || !call || !mutant) throw new Error(`${sdkName}, ${name} and ${bug} have to be known`);
    const [before, after] = [(await observe(sdk, [call])).get(name), (await observe(sdk, [call], mutant)).get(name)];
    expect(before && after && differenceOf(before, after, call.mustFail)).toBe(sees);
  });
});
