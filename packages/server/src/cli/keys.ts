import type { components } from "@parley/contract/admin-types";
import type { Command } from "commander";
import type { Perform } from "../accounts/manage/perform.ts";
import type { Input } from "../accounts/manage/verb.ts";
import type { Config } from "../config/read-config.ts";
import { deliverKey, forgetDelivery } from "./deliver-key.ts";
import { findGroup } from "./find-group.ts";
import { findKeyId } from "./find-key.ts";
import { formatTime } from "./format-time.ts";
import { describeKey, toKeyTable } from "./key-listing.ts";
import { addRaiseFlags, addRuleFlags, bodyOf, raiseOf, removed, smallLimitsOf } from "./key-rules.ts";
import type { RaiseFlags, RuleFlags } from "./key-rules.ts";
import { listAll, openManage } from "./manage.ts";
import { readSpan } from "./read-argument.ts";
import { manageFlags, manageModelFlags } from "./settings.ts";
import { toJson } from "./table.ts";

type Key = components["schemas"]["Key"];

interface JsonFlag {
  readonly json?: boolean;
}

export function addKeysCommand(program: Command): void {
  const keys = program.command("keys").description("API keys; a running server sees every change at once");
  const onKey: OnKey = (name, description) =>
    keys.command(name).description(description).argument("<key>", "its id, or its name if no other key has it");
  addCreate(keys);
  addShow(keys, onKey);
  addUpdate(onKey);
  addChange(onKey("disable", "refuse a key from now on, until it is enabled"), async (perform, id) => {
    await perform("disableKey", about(id));
    return `${id} is disabled.`;
  });
  addChange(onKey("enable", "admit a disabled key again"), async (perform, id) => {
    await perform("enableKey", about(id));
    return `${id} is enabled.`;
  });
  addChange(onKey("delete", "delete a key; its usage stays in the ledger"), async (perform, id, config) => {
    await perform("deleteKey", about(id));
    forgetDelivery(id, config.dataDir);
    return `${id} is deleted. Its usage stays in the ledger.`;
  });
  addRotate(onKey);
}

type OnKey = (name: string, description: string) => Command;

const about = (id: string): Input<"disableKey"> => ({ id, query: {}, body: undefined });

function addCreate(keys: Command): void {
  manageModelFlags
    .addTo(addRuleFlags(keys.command("create").description("create a key and show it once")))
    .option("--json", "as JSON")
    .action(async (flags: RuleFlags & JsonFlag, command: Command) => {
      if (flags.name === undefined) command.error("error: a key needs a name: --name NAME");
      const config = manageModelFlags.configOf(command);
      await using manage = await openManage(config, true);
      const body = { ...bodyOf(flags), ...(await groupRuleOf(flags, manage.perform)), name: flags.name };
      const { key, token } = await manage.perform("createKey", { id: undefined, query: {}, body });
      deliver({ id: key.id, token }, config, flags);
      warn(key, config);
    });
}

function addShow(keys: Command, onKey: OnKey): void {
  manageFlags
    .addTo(keys.command("list").description("list keys, without their secrets"))
    .option("--json", "as JSON")
    .action(async ({ json }: JsonFlag, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      const listed = await listAll(manage.perform, "listKeys");
      process.stdout.write(json === true ? toJson(listed) : toKeyTable(listed));
    });
  manageFlags
    .addTo(onKey("show", "show one key with all its rules, without its secret"))
    .option("--json", "as JSON")
    .action(async (name: string, flags: JsonFlag, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      show(await manage.perform("getKey", about(await findStored(manage.perform, name))), flags);
    });
}

function addUpdate(onKey: OnKey): void {
  manageModelFlags
    .addTo(addRaiseFlags(addRuleFlags(onKey("update", "change the given rules of a key"))))
    .option("--json", "as JSON")
    .action(async (name: string, flags: RuleFlags & RaiseFlags & JsonFlag, command: Command) => {
      const config = manageModelFlags.configOf(command);
      const rules = { ...bodyOf(flags), ...raiseOf(flags, command) };
      if (Object.keys(rules).length === 0 && flags.group === undefined)
        command.error("error: nothing to change: name a rule, such as --expires 30d");
      await using manage = await openManage(config);
      const body = { ...rules, ...(await groupRuleOf(flags, manage.perform)) };
      const id = await findStored(manage.perform, name);
      const key = await manage.perform("updateKey", { id, query: {}, body });
      show(key, flags);
      warn(key, config);
    });
}

function addRotate(onKey: OnKey): void {
  manageFlags
    .addTo(onKey("rotate", "give a key a new secret and show it once"))
    .option("--overlap <time>", "how long the old secret still works (7d, 12h, 30m)", readSpan)
    .option("--json", "as JSON")
    .action(async (name: string, flags: JsonFlag & { overlap?: number }, command: Command) => {
      const config = manageFlags.configOf(command);
      await using manage = await openManage(config);
      const id = await findStored(manage.perform, name);
      const body = flags.overlap === undefined ? {} : { overlap_seconds: flags.overlap / 1000 };
      const { key, token } = await manage.perform("rotateKey", { id, query: {}, body });
      deliver({ id, token }, config, flags);
      const { former_secret_until: until } = key;
      const fate = until === null ? "no longer works" : `works until ${formatTime(Date.parse(until))}`;
      process.stderr.write(`The secret before it ${fate}.\n`);
    });
}

/** Adds a command that changes one key and prints the result. */
function addChange(command: Command, change: (perform: Perform, id: string, config: Config) => Promise<string>): void {
  manageFlags.addTo(command).action(async (name: string) => {
    const config = manageFlags.configOf(command);
    await using manage = await openManage(config);
    const id = await findStored(manage.perform, name);
    process.stdout.write(`${await change(manage.perform, id, config)}\n`);
  });
}

/** Returns the rule `group_id`, if a group was given. */
async function groupRuleOf({ group }: RuleFlags, perform: Perform): Promise<{ readonly group_id?: string | null }> {
  if (group === undefined) return {};
  return { group_id: group === removed ? null : (await findGroup(perform, group)).id };
}

async function findStored(perform: Perform, idOrName: string): Promise<string> {
  const stored = await listAll(perform, "listKeys");
  return findKeyId(new Map(stored.map(({ id, name }) => [id, name])), idOrName);
}

const show = (key: Key, { json }: JsonFlag): void =>
  void process.stdout.write(json === true ? toJson(key) : describeKey(key));

/** Warns on standard error, so programs can parse standard output. The models and limits of another server are unknown. */
function warn(key: Key, config: Config): void {
  if (config.adminUrl !== undefined) return;
  for (const limit of smallLimitsOf(key, config)) process.stderr.write(`Warning: ${limit}\n`);
}

function deliver(key: { readonly id: string; readonly token: string }, { dataDir }: Config, { json }: JsonFlag): void {
  const { text, fields } = deliverKey(key, dataDir, process.stdout.isTTY);
  process.stdout.write(json === true ? toJson({ id: key.id, ...fields }) : `id   ${key.id}\nkey  ${text}\n`);
}
