import type { Command } from "./command.ts";
import { argumentsOf } from "./schemathesis.ts";
import type { Source } from "./schemathesis.ts";

/** A run of Schemathesis in the pipeline, in the root of the repository. */
export interface GateRun {
  /** The end of its step's name. */
  readonly name: string;
  readonly target: "scripted" | "embedded" | "admin";
  readonly command: Command;
  readonly environment: Readonly<Record<string, string>>;
  /** The file that gets a line per answer. */
  readonly record: string;
}

/** The seed is fixed: the same tree gives the same verdict. */
const seed = 20_261_121;

function gateRun(name: string, target: GateRun["target"], source: Source, cases: number): GateRun {
  const record = `.parley/fuzz/gate-${name}.ndjson`;
  const isAdmin = source === "admin";
  const contract = `packages/contract/src/generated/${isAdmin ? "admin" : "contract"}.json`;
  const paths = { config: `fuzz/${isAdmin ? "admin" : "schemathesis"}.toml`, contract };
  return {
    name,
    target,
    record,
    command: ["schemathesis", ...argumentsOf({ source, cases, seed }, paths)],
    environment: {
      HYPOTHESIS_STORAGE_DIRECTORY: ".parley/fuzz/hypothesis",
      PYTHONPATH: "fuzz",
      PYTHONDONTWRITEBYTECODE: "1",
      FUZZ_CONTRACT: contract,
      FUZZ_RUN_CONFIG: JSON.stringify({ name: target, source, record }),
    },
  };
}

/** The runs of the gate: the server under test, the source of the requests, and the number of cases for each operation. */
export const gateRuns: readonly GateRun[] = [
  gateRun("grammar", "scripted", "grammar", 4000),
  gateRun("schema", "scripted", "schema", 60),
  gateRun("auth", "scripted", "auth", 10),
  gateRun("embedded", "embedded", "grammar", 60),
  gateRun("admin", "admin", "admin", 10),
];
