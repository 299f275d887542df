import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import type { ConformanceProfile } from "../profile.ts";
import { scenariosFor } from "../scenarios.ts";
import { readProfileFile } from "./profile-flags.ts";

const example: ConformanceProfile = {
  implementation: { name: "my implementation", version: "1.0" },
  levels: ["core", "stream"],
  capabilities: ["greedy", "guided"],
  keys: { expired: { env: "EXPIRED_KEY" }, requests: { env: "REQUESTS_KEY" } },
  requestsPerMinute: 12,
  deadlines: { headDeadlineSeconds: 20 },
  records: { command: ["my-ledger", "{id}"] },
};

const workflow = `# Judges the implementation on every change. The exit code is 0 only where every clause of the claimed levels is kept.
conformance:
  script:
    - npx @parley/conformance run --base-url "$BASE_URL" --api-key-env API_KEY --profile conformance.json --exhaustive --report conformance-report
  artifacts: conformance-report
`;

export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("write a conformance profile and a CI snippet to start from")
    .action(() => {
      const files = {
        "conformance.json": `${JSON.stringify(example, undefined, 2)}\n`,
        "conformance-ci.yml": workflow,
      };
      for (const [name, text] of Object.entries(files)) {
        if (existsSync(name)) throw new Error(`${name} is there already.`);
        writeFileSync(name, text);
        process.stdout.write(`${name}\n`);
      }
    });
}

export function addScriptCommand(program: Command): void {
  program
    .command("script")
    .description("the scenarios that a scripted engine behind the service has to play, as JSON")
    .option("--profile <file>", "conformance profile, whose deadlines set the waits")
    .action(({ profile: file }: { readonly profile?: string }) => {
      // A conformance profile of the implementer.
      const given = file === undefined ? {} : readProfileFile(file);
      process.stdout.write(`${JSON.stringify({ scenarios: scenariosFor(given) }, undefined, 2)}\n`);
    });
}
