import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { CliProcess, parley } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "../use-folder.ts";

const folder = useFolder();
const cli = join(import.meta.dirname, "../../src/cli");

/** Adds all commands to one program. @returns the commands that do something, by their names */
async function readCommands(): Promise<ReadonlyMap<string, Command>> {
  const program = new Command("parley");
  const files = readdirSync(cli).filter((name) => name.endsWith(".ts") && !/program|\.test\./.test(name));
  for (const file of files) {
    const module = (await import(join(cli, file))) as Record<string, unknown>; // functions and constants
    for (const [name, add] of Object.entries(module))
      if (/^add(?!Prune)\w+Commands?$/.test(name) && typeof add === "function")
        (add as (program: Command) => void)(program); // every such function has this type
  }
  const found = new Map<string, Command>();
  const collect = (command: Command, path: string): void => {
    for (const one of command.commands) {
      const name = `${path} ${one.name()}`.trim();
      if (one.options.length > 0 || one.commands.length === 0) found.set(name, one);
      collect(one, name);
    }
  };
  collect(program, "");
  return found;
}

/** Commands that need the machine of the server: its files, processes and settings. */
const local =
  "backup,restore,migrate,downgrade,config check,config schema,doctor,start,stop,worker,engine plan,engine status,engine logs,engine doctor,engine restart,schema check,vllm install".split(
    ",",
  );

test("every other command has a way over HTTP, and is compared with the data folder", async () => {
  const commands = await readCommands();
  const others = [...commands.keys()].filter((name) => !local.includes(name));
  expect([...commands.keys()]).toEqual(expect.arrayContaining(local));
  const compared = ["verbs.test.ts", "reports.test.ts"]
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
    .join("\n");
  for (const name of others) {
    expect([name, commands.get(name)?.options.map(({ long }) => long)]).toEqual([
      name,
      expect.arrayContaining(["--admin-url"]),
    ]);
    expect([name, new RegExp(`"${name}[" ]`).test(compared)]).toEqual([name, true]);
  }
  expect(others.length).toBeGreaterThan(20);
});

const notice = (name: string): string =>
  `\`parley ${name}\` works on this machine: it does not use the server of PARLEY_ADMIN_URL.\n`;

test.each([
  ["stop", "stop"],
  ["backup", "backup one.db"],
  ["restore", "restore one.db"],
  ["migrate", "migrate --dry-run"],
  ["config check", "config check"],
  ["engine status", "engine status"],
  ["doctor", "doctor"],
])("`%s` says that it does not use PARLEY_ADMIN_URL", async (name, command) => {
  const { env, cwd } = folder.quick({ PARLEY_ADMIN_URL: "http://127.0.0.1:9", PARLEY_ADMIN_KEY: "none" });
  const { stderr } = await parley(command.split(" "), { env, cwd });
  expect(stderr.startsWith(notice(name))).toBe(true);
});

test("`start` says so and starts, and without the setting no command says anything", async () => {
  await using server = new CliProcess(["start"], folder.quick({ PARLEY_ADMIN_URL: "http://127.0.0.1:9" }));
  await baseUrlOf(server);
  expect(server.stderr).toContain(notice("start"));
  const { env, cwd } = folder.quick();
  expect((await parley(["config", "check"], { env, cwd })).stderr).not.toContain("PARLEY_ADMIN_URL");
});
