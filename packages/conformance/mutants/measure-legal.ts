import { levels } from "../src/contract/contract.ts";
import { profileNames, selectClauses } from "../src/contract/select-clauses.ts";
import { assess } from "../src/run/assess.ts";
import { collect, runProfileOf } from "./judge.ts";
import { startRelay } from "./legal-relay.ts";
import { legalVariations } from "./legal.ts";
import type { LegalVariation } from "./legal.ts";
import { startSubject } from "./subject.ts";

/** Judges every legal variation under every profile, and prints each clause that fails: `node mutants/measure-legal.ts [RUNS] [TITLE…]`. */

const [runs = "3", ...titles] = process.argv.slice(2);
const claimed = levels.filter((level) => level !== "limits" && level !== "ops");
let alarms = 0;
let judged = 0;

async function measure({ title, mutant, spelling, isForOthers }: LegalVariation, seed: number): Promise<void> {
  await using server = await startSubject(mutant);
  await using relay = await startRelay(server.baseUrl, spelling ?? {});
  const baseUrl = spelling ? relay.baseUrl : server.baseUrl;
  const subject = { ...server, baseUrl, profile: { ...server.profile, capabilities: ["greedy", "guided"] as const } };
  const judging = { server: subject, levels: claimed, seed };
  const evidence = await collect(judging);
  for (const base of profileNames.filter((name) => name !== "parley" || isForOthers !== true)) {
    const ids = selectClauses(base, []);
    const { verdicts } = assess(evidence, { ...runProfileOf(judging), base, ...(ids && { clauses: ids }) });
    judged += 1;
    for (const { clause, state, note } of verdicts)
      if (["FAIL", "WARN", "ERROR"].includes(state)) {
        alarms += 1;
        process.stdout.write(`${title} (${base}, seed ${seed}): ${state} ${clause.id} ${note.slice(0, 300)}\n`);
      }
  }
}

const chosen = legalVariations.filter(({ title }) => titles.length === 0 || titles.includes(title));
for (const variation of chosen) for (let seed = 0; seed < Number(runs); seed += 1) await measure(variation, seed);
process.stdout.write(`${chosen.length} variations, ${judged} judgements, ${alarms} alarms\n`);
process.exit(0);
