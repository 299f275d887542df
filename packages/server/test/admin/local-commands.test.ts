import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { CliProcess, parley } from "@parley/server/testing";
import { refuseSurplus } from "../../src/cli/read-argument.ts";
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
  "backup,restore,migrate,downgrade,config check,config schema,doctor,start,reload,stop,worker,engine plan,engine status,engine logs,engine doctor,engine restart,schema check,vllm install".split(
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

/** Values of the flags that a command demands. */
const demanded: Readonly<Record<string, string>> = { "--before": "1d", "--to": "1" };

test("every command refuses a surplus argument, and says what it takes", async () => {
  for (const [name, command] of await readCommands()) {
    let root = command;
    for (let one: Command | null = command; one; one = one.parent) {
      root = one.exitOverride().configureOutput({ writeErr: () => undefined });
    }
    refuseSurplus(root);
    const known = command.registeredArguments;
    if (known.at(-1)?.variadic === true) continue;
    const flags = command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long ?? "");
    const values = flags.flatMap((flag) => [flag, demanded[flag] ?? []].flat());
    const args = [...name.split(" "), ...values, ...known.map(() => "x")];
    const takes = known.length === 0 ? "no arguments" : known.map((one) => `<${one.name()}>`).join(" ");
    await expect(root.parseAsync([...args, "red"], { from: "user" })).rejects.toThrow(
      `'parley ${name}' takes ${takes}, but got 'red', too.`,
    );
  }
});

test.each([
  ["groups create red", "A name needs its flag: --name 'red'."],
  ["keys show red dot", "An argument with blanks needs quotation marks."],
  ["usage trim", "Its commands: prune."],
])("parley %s gets advice: %s", async (line, advice) => {
  const { code, stderr } = await parley(line.split(" "), { cwd: folder.path() });
  expect([code, stderr]).toEqual([2, expect.stringContaining(advice)]);
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
