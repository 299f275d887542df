import admin from "@parley/contract/admin.json" with { type: "json" };
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { Scope } from "../accounts/admin-keys/admin-key-store.ts";
import type { Input } from "../accounts/manage/verb.ts";
import { deliverKey, forgetDelivery } from "./deliver-key.ts";
import { findGroup } from "./find-group.ts";
import { findKeyId } from "./find-key.ts";
import { listAll, openManage } from "./manage.ts";
import { readFuture, readList } from "./read-argument.ts";
import { manageFlags } from "./settings.ts";
import { toJson, toTable } from "./table.ts";

const allScopes = admin.components.schemas.Scope.enum as readonly Scope[]; // the types are generated from the same document

interface CreateFlags {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly group?: string;
  readonly expires?: number;
  readonly json?: boolean;
}

export function addAdminKeysCommand(program: Command): void {
  const keys = program.command("admin-keys").description("admin keys: keys for the admin API (PARLEY_ADMIN_PORT)");
  addCreate(keys);
  manageFlags
    .addTo(keys.command("list").description("list admin keys, without their secrets"))
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: boolean }, command: Command) => {
      await using manage = await openManage(manageFlags.configOf(command));
      const listed = await listAll(manage.perform, "listAdminKeys");
      const rows = listed.map((key) => [
        key.id,
        key.name,
        key.state,
        key.group_id ?? "-",
        key.scopes.join(","),
        key.expires ?? "-",
        key.last_used ?? "-",
      ]);
      const header = ["id", "name", "state", "group", "scopes", "expires", "last used"];
      process.stdout.write(json === true ? toJson(listed) : toTable(header, rows));
    });
  addChange(keys, "disable", "refuse an admin key from now on, until it is enabled", "disableAdminKey");
  addChange(keys, "enable", "admit a disabled admin key again", "enableAdminKey");
  addChange(keys, "delete", "delete an admin key", "deleteAdminKey");
}

function addCreate(keys: Command): void {
  manageFlags
    .addTo(keys.command("create").description("create an admin key and show it once"))
    .option("--name <name>", "its name")
    .option("--scopes <scopes>", `its rights, separated by commas: ${allScopes.join(", ")}`, readScopes)
    .option("--group <group>", "the group that it is bound to, by id or name: its owner then sees only that group")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)", readFuture)
    .option("--json", "as JSON")
    .action(async ({ name, scopes, group, expires, json }: CreateFlags, command: Command) => {
      if (name === undefined) command.error("error: an admin key needs a name: --name NAME");
      if (scopes === undefined)
        command.error("error: an admin key needs scopes, such as --scopes keys:read,keys:write");
      const config = manageFlags.configOf(command);
      await using manage = await openManage(config, true);
      const body = {
        name,
        scopes: [...scopes],
        ...(group !== undefined && { group_id: (await findGroup(manage.perform, group)).id }),
        ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
      };
      const { admin_key: key, token } = await manage.perform("createAdminKey", { id: undefined, query: {}, body });
      const { text, fields } = deliverKey({ id: key.id, token }, config.dataDir, process.stdout.isTTY);
      process.stdout.write(json === true ? toJson({ id: key.id, ...fields }) : `id   ${key.id}\nkey  ${text}\n`);
    });
}

function readScopes(text: string): Scope[] {
  const scopes = allScopes.filter((scope) => readList(text).includes(scope));
  const unknown = readList(text).find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no scope ${unknown}. There are ${allScopes.join(", ")}.`);
  return scopes;
}

function addChange(
  keys: Command,
  name: string,
  description: string,
  operation: "disableAdminKey" | "enableAdminKey" | "deleteAdminKey",
): void {
  const command = keys.command(name).description(description).argument("<admin-key>", "its id or its name");
  manageFlags.addTo(command).action(async (idOrName: string) => {
    const config = manageFlags.configOf(command);
    await using manage = await openManage(config);
    const listed = await listAll(manage.perform, "listAdminKeys");
    const id = findKeyId(new Map(listed.map((key) => [key.id, key.name])), idOrName, "admin-keys");
    const input: Input<typeof operation> = { id, query: {}, body: undefined };
    await manage.perform(operation, input);
    if (operation === "deleteAdminKey") forgetDelivery(id, config.dataDir);
    process.stdout.write(`${id} is ${name}d.\n`);
  });
}
