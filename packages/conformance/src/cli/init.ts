import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import type { Claims } from "../profile.ts";
import { scenariosFor } from "../scenarios.ts";

const claims: Claims = {
  implementation: { name: "my implementation", version: "1.0" },
  levels: ["core", "stream"],
  abilities: ["greedy", "guided"],
  keys: { expired: { env: "EXPIRED_KEY" }, requests: { env: "REQUESTS_KEY" } },
  requestsPerMinute: 12,
  deadlines: { headDeadlineSeconds: 20 },
  records: { command: ["my-ledger", "{id}"] },
};

const workflow = `# Judges the implementation on every change. The exit code is 0 only where every clause of the claimed levels is kept.
conformance:
  script:
    - npx @parley/conformance run --base-url "$BASE_URL" --api-key-env API_KEY --claims conformance.json --thorough --report conformance-report
  artifacts: conformance-report
`;

export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("write a claims file and a CI snippet to begin with")
    .action(() => {
      const files = { "conformance.json": `${JSON.stringify(claims, undefined, 2)}\n`, "conformance-ci.yml": workflow };
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
    .option("--claims <file>", "claims file: its deadlines set the waits")
    .action(({ claims: file }: { readonly claims?: string }) => {
      // A claims file of the implementer.
      const given = file === undefined ? {} : (JSON.parse(readFileSync(file, "utf8")) as Claims);
      process.stdout.write(`${JSON.stringify({ scenarios: scenariosFor(given) }, undefined, 2)}\n`);
    });
}
