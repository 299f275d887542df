import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { assertBudgetLeft } from "../accounts/groups/check-group.ts";
import { GroupError } from "../accounts/groups/group-store.ts";
import type { GroupStore, StoredGroup } from "../accounts/groups/group-store.ts";
import { openExistingStateOf, openStateOf } from "../state/open-state.ts";
import type { State } from "../state/open-state.ts";
import { findGroup } from "./find-group.ts";
import { describeGroup, listGroups, toGroupTable } from "./group-listing.ts";
import { addGroupFlags, groupRulesOf } from "./group-rules.ts";
import type { GroupFlags } from "./group-rules.ts";
import { dataFlags, modelFlags } from "./settings.ts";
import { toJson } from "./table.ts";

interface JsonFlag {
  readonly json?: boolean;
}

export function addGroupsCommand(program: Command): void {
  const groups = program
    .command("groups")
    .description("groups of keys with budgets; a running server sees every change at once");
  const onGroup: OnGroup = (name, description) =>
    groups.command(name).description(description).argument("<group>", "its id or its name");
  addCreate(groups);
  addShow(groups, onGroup);
  addUpdate(onGroup);
  addChange(
    onGroup("disable", "refuse all keys of a group from now on, until it is enabled"),
    async (store, { id }) => {
      await store.disable(id, Date.now());
      return "disabled";
    },
  );
  addChange(onGroup("enable", "admit the keys of a disabled group again"), async (store, { id }) => {
    await store.enable(id);
    return "enabled";
  });
  addChange(onGroup("delete", "delete a group without keys; its usage stays in the ledger"), async (store, { id }) => {
    await store.delete(id, Date.now());
    return "deleted";
  });
}

type OnGroup = (name: string, description: string) => Command;

function addCreate(groups: Command): void {
  modelFlags
    .addTo(addGroupFlags(groups.command("create").description("create a group of keys")))
    .option("--json", "as JSON")
    .action(async ({ parent, ...flags }: GroupFlags & JsonFlag, command: Command) => {
      if (flags.name === undefined) command.error("error: a group needs a name: --name NAME");
      const config = modelFlags.configOf(command);
      const rules = { ...groupRulesOf(flags, config), name: flags.name };
      await using state = await openStateOf(config);
      const parentId = await parentOf(state.groups, parent);
      const id = `grp_${randomBytes(6).toString("hex")}`;
      await state.groups.insert({ ...rules, ...parentId, id, createdMs: Date.now() });
      await show(state, id, flags);
    });
}

function addShow(groups: Command, onGroup: OnGroup): void {
  dataFlags
    .addTo(groups.command("list").description("list groups with their budgets"))
    .option("--json", "as JSON")
    .action(async ({ json }: JsonFlag, command: Command) => {
      await using state = await openExistingStateOf(dataFlags.configOf(command));
      const listed = await listGroups(state, Date.now());
      process.stdout.write(json === true ? toJson(listed) : toGroupTable(listed));
    });
  dataFlags
    .addTo(onGroup("show", "show one group with all its rules"))
    .option("--json", "as JSON")
    .action(async (group: string, flags: JsonFlag, command: Command) => {
      await using state = await openExistingStateOf(dataFlags.configOf(command));
      await show(state, (await findGroup(state.groups, group)).id, flags);
    });
}

interface UpdateFlags extends GroupFlags, JsonFlag {
  readonly force?: boolean;
}

function addUpdate(onGroup: OnGroup): void {
  modelFlags
    .addTo(addGroupFlags(onGroup("update", "change the given rules of a group")))
    .option("--force", "set a budget below what is spent, which refuses all requests until it starts again")
    .option("--json", "as JSON")
    .action(async (name: string, { parent, force, ...flags }: UpdateFlags, command: Command) => {
      const config = modelFlags.configOf(command);
      await using state = await openExistingStateOf(config);
      const group = await findGroup(state.groups, name);
      const change = { ...groupRulesOf(flags, config, group.keyCeiling), ...(await parentOf(state.groups, parent)) };
      if (Object.keys(change).length === 0)
        command.error("error: nothing to change: name a rule, such as --budget-usd 50");
      if (force !== true) await assertBudgetLeft(state.ledger, group, change, Date.now()).catch(suggestForce);
      await state.groups.update(group.id, change);
      await show(state, group.id, flags);
    });
}

const suggestForce = (error: unknown): never => {
  if (!(error instanceof GroupError)) throw error;
  throw new Error(`${error.message} Nothing was changed. To set it all the same, add --force.`);
};

/** Returns the rule `parentId`, if a parent was given. */
async function parentOf(
  store: GroupStore,
  parent: string | undefined,
): Promise<{ readonly parentId?: string | undefined }> {
  if (parent === undefined) return {};
  return { parentId: parent === "none" ? undefined : (await findGroup(store, parent)).id };
}

/** Adds a command that changes one group and prints the result. @param change returns the result as one word */
function addChange(command: Command, change: (store: GroupStore, group: StoredGroup) => Promise<string>): void {
  dataFlags.addTo(command).action(async (name: string) => {
    await using state = await openExistingStateOf(dataFlags.configOf(command));
    const group = await findGroup(state.groups, name);
    process.stdout.write(`${group.name} (${group.id}) is ${await change(state.groups, group)}.\n`);
  });
}

async function show(state: State, id: string, { json }: JsonFlag): Promise<void> {
  const listed = (await listGroups(state, Date.now())).find((group) => group.id === id);
  if (!listed) throw new Error(`${id} was deleted a moment ago.`);
  process.stdout.write(json === true ? toJson(listed) : describeGroup(listed));
}
