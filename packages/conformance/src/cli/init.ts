import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { ConformanceProfile } from "../profile.ts";
import { suiteVersion } from "../report/report.ts";
import { scenariosFor } from "../scenarios.ts";
import { readProfileFile } from "./profile-flags.ts";

/** True of every service: it claims nothing beyond the usual levels. The guide lists the other members. */
const example: ConformanceProfile = {
  implementation: { name: "my implementation", version: "1.0" },
  levels: ["core", "stream"],
};

const command = `npx --yes @parley/conformance@${suiteVersion} run --base-url "$BASE_URL" --api-key-env API_KEY --profile conformance.json --report conformance-report`;

const github = `name: conformance
on: [push, pull_request]
permissions:
  contents: read
jobs:
  conformance:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-node@v6
        with:
          node-version: 24
      # Start the service here, if it does not run elsewhere.
      - run: ${command}
        env:
          BASE_URL: \${{ vars.BASE_URL }}
          API_KEY: \${{ secrets.API_KEY }}
      - if: always()
        uses: actions/upload-artifact@v6
        with:
          name: conformance-report
          path: conformance-report
`;

const gitlab = `# Include this file in .gitlab-ci.yml, and set the CI/CD variables BASE_URL and API_KEY.
conformance:
  image: node:24-slim
  script:
    - ${command}
  artifacts:
    when: always
    paths:
      - conformance-report/
    reports:
      junit: conformance-report/junit.xml
`;

const pipelines = {
  github: { ".github/workflows/conformance.yml": github },
  gitlab: { "conformance.gitlab-ci.yml": gitlab },
} as const;

type PipelineKind = keyof typeof pipelines;

const kinds: readonly PipelineKind[] = ["github", "gitlab"];

function readKinds(text: string): readonly PipelineKind[] {
  const parts = text.split(",").map((part) => part.trim());
  const odd = parts.find((part) => !kinds.some((kind) => kind === part));
  if (odd !== undefined) throw new InvalidArgumentError(`"${odd}" is none of ${kinds.join(", ")}.`);
  return kinds.filter((kind) => parts.includes(kind));
}

export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("write a conformance profile and jobs for CI to start from")
    .option(
      "--ci <kinds>",
      `the jobs to write, separated by commas: ${kinds.join(", ")} (default: all)`,
      readKinds,
      kinds,
    )
    .action(({ ci }: { readonly ci: readonly PipelineKind[] }) => {
      const files = { "conformance.json": `${JSON.stringify(example, undefined, 2)}\n`, ...jobsOf(ci) };
      const present = Object.keys(files).filter((name) => existsSync(name));
      if (present.length > 0)
        throw new Error(`${present.join(", ")}: there already, so nothing was written. Move it away, or edit it.`);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(name), { recursive: true });
        writeFileSync(name, text, { flag: "wx" });
        process.stdout.write(`${name}\n`);
      }
      process.stdout.write("Next: name your implementation in conformance.json, and set BASE_URL and API_KEY in CI.\n");
    });
}

const jobsOf = (ci: readonly PipelineKind[]): Readonly<Record<string, string>> =>
  Object.fromEntries(ci.flatMap((kind) => Object.entries(pipelines[kind])));

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
