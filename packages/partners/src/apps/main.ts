import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { startTestServer, testKey } from "@parley/server/testing";
import { prerequisites } from "../tool.ts";
import { writeAppResult } from "./app.ts";
import type { App } from "./app.ts";
import { apps } from "./apps.ts";
import { runApp } from "./run-app.ts";
import type { Service } from "./run-app.ts";

const help = `Usage: pnpm apps [--only APP,…] [--url URL --key KEY] [--check] [--list]

Installs each application of docs/guides/your-app.md in a folder of its own, with the version of the guide, runs the lines of
the guide there, and holds what it shows against what the service has answered. It downloads the applications from their
registries. The result is written beside the lines.

  --only APP,…  only these applications
  --url URL     scheme, host and port of a running service; without it, Parley is started with the scripted engine
  --key KEY     a key of that service
  --check       writes no results
  --list        names the applications
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { only: text, url: text, key: text, check: flag, list: flag, help: flag } });
  if (values.help) say(help);
  else if (values.list) for (const { name, packages } of apps) say(`${name.padEnd(16)} ${packages.join(" ")}`);
  else if (values.url === undefined) {
    await using server = await startTestServer();
    return await runApps(select(values.only), { url: server.origin, key: testKey }, values.check === true);
  } else return await runApps(select(values.only), { url: values.url, key: values.key ?? "" }, values.check === true);
  return 0;
}

function select(only: string | undefined): readonly App[] {
  const names = only?.split(",");
  const unknown = names?.find((name) => !apps.some((app) => app.name === name));
  if (unknown !== undefined) throw new TypeError(`there is no application "${unknown}"; --list names them`);
  return apps.filter(({ name }) => names?.includes(name) ?? true);
}

async function runApps(selected: readonly App[], service: Service, isCheck: boolean): Promise<number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const app of selected) {
    const needed = ({ python: "python3", npm: "npm", go: "go" } as const)[app.kind];
    if (spawnSync(needed, [needed === "go" ? "version" : "--version"], { stdio: "ignore" }).status !== 0) {
      counts.skipped += 1;
      say(`SKIPPED ${app.name}: install ${prerequisites[needed]}`);
      continue;
    }
    const { requests, fault } = await runApp(app, service);
    counts[fault === undefined ? "passed" : "failed"] += 1;
    const [first = ""] = app.packages;
    say(
      `${fault === undefined ? "passed" : "FAILED"}  ${app.name.padEnd(16)} ${first.padEnd(42)} ${requests.join(", ")}`,
    );
    if (fault !== undefined) say(fault.split("\n").slice(-30).join("\n    "));
    else if (!isCheck) writeAppResult(app, requests);
  }
  say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
