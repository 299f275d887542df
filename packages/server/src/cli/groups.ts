import type { components } from "@parley/contract/admin-types";
import type { Command } from "commander";
import { ManageError } from "../accounts/manage/manage-error.ts";
import type { Perform } from "../accounts/manage/perform.ts";
import { findGroup } from "./find-group.ts";
import { describeGroup, toGroupTable } from "./group-listing.ts";
import { addGroupFlags, groupBodyOf } from "./group-rules.ts";
import type { GroupFlags } from "./group-rules.ts";
import { addRaiseFlags, raiseOf } from "./key-rules.ts";
import type { RaiseFlags } from "./key-rules.ts";
import { listAll, openManage } from "./manage.ts";
import { manageFlags, manageModelFlags } from "./settings.ts";
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
  addChange(onGroup("disable", "refuse all keys of a group from now on, until it is enabled"), "disableGroup");
  addChange(onGroup("enable", "admit the keys of a disabled group again"), "enableGroup");
  addChange(onGroup("delete", "delete a group without keys; its usage stays in the ledger"), "deleteGroup");
}

type OnGroup = (name: string, description: string) => Command;

function addCreate(groups: Command): void {
  manageModelFlags
    .addTo(addGroupFlags(groups.command("create").description("create a group of keys")))
    .option("--json", "as JSON")
    .action(async ({ parent, ...flags }: GroupFlags & JsonFlag, command: Command) => {
      if (flags.name === undefined) command.error("error: a group needs a name: --name NAME");
      await using manage = await openManage(manageModelFlags.configOf(command), true);
      const body = { ...groupBodyOf(flags), ...(await parentOf(manage.perform, parent)), name: flags.name };
      show(await manage.perform("createGroup", { id: undefined, query: {}, body }), flags);
    });
}

function addShow(groups: Command, onGroup: OnGroup): void {
  manageFlags
    .addTo(groups.command("list").description("list groups with their budgets"))
    .option("--json", "as JSON")
    .action(async ({ json }: JsonFlag, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      const listed = await listAll(manage.perform, "listGroups");
      process.stdout.write(json === true ? toJson(listed) : toGroupTable(listed));
    });
  manageFlags
    .addTo(onGroup("show", "show one group with all its rules"))
    .option("--json", "as JSON")
    .action(async (group: string, flags: JsonFlag, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      show(await findGroup(manage.perform, group), flags);
    });
}

interface UpdateFlags extends GroupFlags, RaiseFlags, JsonFlag {
  readonly force?: boolean;
}

function addUpdate(onGroup: OnGroup): void {
  manageModelFlags
    .addTo(addRaiseFlags(addGroupFlags(onGroup("update", "change the given rules of a group"))))
    .option("--force", "set a budget below what is spent, which refuses all requests until it starts again")
    .option("--json", "as JSON")
    .action(async (name: string, { parent, force, ...flags }: UpdateFlags, command: Command) => {
      const raise = raiseOf(flags, command);
      await using manage = await openManage(manageModelFlags.configOf(command));
      const { id, key_ceiling: ceiling } = await findGroup(manage.perform, name);
      const body = { ...groupBodyOf(flags, ceiling), ...raise, ...(await parentOf(manage.perform, parent)) };
      if (Object.keys(body).length === 0)
        command.error("error: nothing to change: name a rule, such as --budget-usd 50");
      const query = force === true ? { force } : {};
      show(await manage.perform("updateGroup", { id, query, body }).catch(suggestForce), flags);
    });
}

const suggestForce = (error: unknown): never => {
  if (!(error instanceof ManageError && error.code === "conflict" && error.param === "budget_usd")) throw error;
  throw new Error(`${error.message} Nothing was changed. To set it all the same, add --force.`);
};

/** Returns the rule `parent_id`, if a parent was given. */
async function parentOf(perform: Perform, parent: string | undefined): Promise<{ readonly parent_id?: string | null }> {
  if (parent === undefined) return {};
  return { parent_id: parent === "none" ? null : (await findGroup(perform, parent)).id };
}

/** Adds a command that changes one group and prints the result. */
function addChange(command: Command, operation: "disableGroup" | "enableGroup" | "deleteGroup"): void {
  manageFlags.addTo(command).action(async (idOrName: string) => {
    await using manage = await openManage(manageFlags.configOf(command));
    const { id, name } = await findGroup(manage.perform, idOrName);
    await manage.perform(operation, { id, query: {}, body: undefined });
    process.stdout.write(`${name} (${id}) is ${command.name()}d.\n`);
  });
}

const show = (group: components["schemas"]["Group"], { json }: JsonFlag): void =>
  void process.stdout.write(json === true ? toJson(group) : describeGroup(group));
