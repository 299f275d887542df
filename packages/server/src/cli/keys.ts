import type { Command } from "commander";
import type { NewKey } from "../accounts/keys/hash-key.ts";
import { createKey, rotateKey } from "../accounts/keys/issue-key.ts";
import type { KeyChange, KeyStore } from "../accounts/keys/key-store.ts";
import { monthOf } from "../accounts/money/month.ts";
import type { Config } from "../config/read-config.ts";
import { openExistingStateOf, openStateOf } from "../state/open-state.ts";
import type { State } from "../state/open-state.ts";
import { deliverKey, forgetDelivery } from "./deliver-key.ts";
import { findGroup } from "./find-group.ts";
import { findKeyId } from "./find-key.ts";
import { formatTime } from "./format-time.ts";
import { describeKey, listKey, toKeyTable } from "./key-listing.ts";
import { addRuleFlags, removed, rulesOf, smallLimitsOf } from "./key-rules.ts";
import type { RuleFlags } from "./key-rules.ts";
import { readSpan } from "./read-argument.ts";
import { dataFlags, modelFlags } from "./settings.ts";
import { toJson } from "./table.ts";

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
  addChange(onKey("disable", "refuse a key from now on, until it is enabled"), async (store, id) => {
    await store.disable(id, Date.now());
    return `${id} is disabled.`;
  });
  addChange(onKey("enable", "admit a disabled key again"), async (store, id) => {
    await store.enable(id);
    return `${id} is enabled.`;
  });
  addChange(onKey("delete", "delete a key; its usage stays in the ledger"), async (store, id, config) => {
    await store.delete(id, Date.now());
    forgetDelivery(id, config.dataDir);
    return `${id} is deleted. Its usage stays in the ledger.`;
  });
  addRotate(onKey);
}

type OnKey = (name: string, description: string) => Command;

function addCreate(keys: Command): void {
  modelFlags
    .addTo(addRuleFlags(keys.command("create").description("create a key and show it once")))
    .option("--json", "as JSON")
    .action(async (flags: RuleFlags & JsonFlag, command: Command) => {
      if (flags.name === undefined) command.error("error: a key needs a name: --name NAME");
      const config = modelFlags.configOf(command);
      const own = { ...rulesOf(flags, config), name: flags.name };
      await using state = await openStateOf(config);
      const rules = { ...own, ...(await groupRuleOf(flags, state)) };
      deliver(await createKey(state.keys, rules, Date.now()), config, flags);
      warn(rules, config);
    });
}

function addShow(keys: Command, onKey: OnKey): void {
  dataFlags
    .addTo(keys.command("list").description("list keys, without their secrets"))
    .option("--json", "as JSON")
    .action(async ({ json }: JsonFlag, command: Command) => {
      await using state = await openExistingStateOf(dataFlags.configOf(command));
      const stored = await state.keys.list();
      const nowMs = Date.now();
      const [spent, spentThisMonth] = [await state.ledger.spentByKey(), await state.ledger.spentByKey(monthOf(nowMs))];
      const groups = await state.groups.names();
      const listed = stored.map((key) => listKey(key, [spent.get(key.id), spentThisMonth.get(key.id)], groups, nowMs));
      process.stdout.write(json === true ? toJson(listed) : toKeyTable(listed));
    });
  dataFlags
    .addTo(onKey("show", "show one key with all its rules, without its secret"))
    .option("--json", "as JSON")
    .action(async (key: string, flags: JsonFlag, command: Command) => {
      await using state = await openExistingStateOf(dataFlags.configOf(command));
      await show(state, await findStored(state.keys, key), flags);
    });
}

function addUpdate(onKey: OnKey): void {
  modelFlags
    .addTo(addRuleFlags(onKey("update", "change the given rules of a key")))
    .option("--json", "as JSON")
    .action(async (key: string, flags: RuleFlags & JsonFlag, command: Command) => {
      const config = modelFlags.configOf(command);
      await using state = await openExistingStateOf(config);
      const change = { ...rulesOf(flags, config), ...(await groupRuleOf(flags, state)) };
      if (Object.keys(change).length === 0)
        command.error("error: nothing to change: name a rule, such as --expires 30d");
      const id = await findStored(state.keys, key);
      await state.keys.update(id, change);
      await show(state, id, flags);
      warn((await state.keys.find(id)) ?? change, config);
    });
}

function addRotate(onKey: OnKey): void {
  dataFlags
    .addTo(onKey("rotate", "give a key a new secret and show it once"))
    .option("--overlap <time>", "how long the old secret still works (7d, 12h, 30m)", readSpan)
    .option("--json", "as JSON")
    .action(async (key: string, flags: JsonFlag & { overlap?: number }, command: Command) => {
      const config = dataFlags.configOf(command);
      await using state = await openExistingStateOf(config);
      const formerUntilMs = flags.overlap === undefined ? undefined : Date.now() + flags.overlap;
      const renewed = await rotateKey(state.keys, await findStored(state.keys, key), formerUntilMs);
      if (!renewed) throw new Error(`${key} was deleted a moment ago.`);
      deliver(renewed, config, flags);
      const until = formerUntilMs === undefined ? "no longer works" : `works until ${formatTime(formerUntilMs)}`;
      process.stderr.write(`The secret before it ${until}.\n`);
    });
}

/** Adds a command that changes one key and prints the result. */
function addChange(command: Command, change: (store: KeyStore, id: string, config: Config) => Promise<string>): void {
  dataFlags.addTo(command).action(async (key: string) => {
    const config = dataFlags.configOf(command);
    await using state = await openExistingStateOf(config);
    process.stdout.write(`${await change(state.keys, await findStored(state.keys, key), config)}\n`);
  });
}

/** Returns the rule `groupId`, if a group was given. */
async function groupRuleOf({ group }: RuleFlags, { groups }: State): Promise<Pick<KeyChange, "groupId">> {
  if (group === undefined) return {};
  return { groupId: group === removed ? undefined : (await findGroup(groups, group)).id };
}

async function findStored(store: KeyStore, idOrName: string): Promise<string> {
  const stored = await store.list();
  return findKeyId(new Map(stored.map(({ id, name }) => [id, name])), idOrName);
}

async function show({ keys, groups, ledger }: State, id: string, { json }: JsonFlag): Promise<void> {
  const key = await keys.find(id);
  if (!key) throw new Error(`${id} was deleted a moment ago.`);
  const nowMs = Date.now();
  const spent = [await ledger.spentUsd(id), await ledger.spentUsd(id, monthOf(nowMs))] as const;
  const listed = listKey(key, spent, await groups.names(), nowMs);
  process.stdout.write(json === true ? toJson(listed) : describeKey(listed));
}

/** Warns on standard error, so programs can parse standard output. */
function warn(rules: KeyChange, config: Config): void {
  for (const limit of smallLimitsOf(rules, config)) process.stderr.write(`Warning: ${limit}\n`);
}

function deliver(key: NewKey, { dataDir }: Config, { json }: JsonFlag): void {
  const { text, fields } = deliverKey(key, dataDir, process.stdout.isTTY);
  process.stdout.write(json === true ? toJson({ id: key.id, ...fields }) : `id   ${key.id}\nkey  ${text}\n`);
}
