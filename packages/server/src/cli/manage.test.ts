import { Command } from "commander";
import { expect, test } from "vitest";
import admin from "@parley/contract/admin.json" with { type: "json" };
import { ManageError } from "../accounts/manage/manage-error.ts";
import { addAdminKeysCommand } from "./admin-keys.ts";
import { addAuditCommand } from "./audit.ts";
import { addGroupsCommand } from "./groups.ts";
import { addKeysCommand } from "./keys.ts";
import { flagOf, nameFlags } from "./manage.ts";
import { addUsageCommand } from "./usage.ts";

/** The members of all bodies of requests, as a refusal names them. */
function sentMembers(): string[] {
  const schemas = new Map<string, object>(Object.entries(admin.components.schemas));
  const membersOf = (name = ""): string[] => Object.keys(Object(schemas.get(name)).properties ?? {});
  const bodies = JSON.stringify(admin.paths).matchAll(/"requestBody":.*?"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const ceiling = membersOf("KeyCeilingRules").map((name) => `key_ceiling.${name}`);
  return [...bodies.flatMap(([, name]) => membersOf(name)), ...ceiling, "budget_raise.usd", "budget_raise.until"];
}

test("every member that a command sends has a flag", () => {
  const program = new Command();
  for (const add of [addKeysCommand, addGroupsCommand, addAdminKeysCommand, addUsageCommand, addAuditCommand])
    add(program);
  const flags = new Set(
    program.commands.flatMap((one) => [one, ...one.commands]).flatMap(({ options }) => options.map(({ long }) => long)),
  );
  expect(sentMembers().length).toBeGreaterThan(30);
  expect(sentMembers().filter((member) => member !== "key_ceiling" && !flags.has(flagOf(member)))).toEqual([]);
});

test.each([
  ["budget_raise.usd must be more than 0.", "budget_raise.usd", "--raise-usd must be more than 0."],
  ["budget_raise.until must be in the future.", "budget_raise.until", "--raise-until must be in the future."],
  ["expires must be in the future.", "expires", "--expires must be in the future."],
  ["name must have a character that is not a blank.", "name", "--name must have a character that is not a blank."],
  ["With its raise, monthly_budget_usd is 6.", "budget_raise", "With its raise, --monthly-budget-usd is 6."],
  ["The ceiling of the group a for weight is 2.", "weight", "The ceiling of the group a for --weight is 2."],
  [
    "The group max_keys-1 has 3 keys, and max_keys is 3.",
    "group_id",
    "The group max_keys-1 has 3 keys, and --max-keys is 3.",
  ],
  [
    "There is already a group name. Choose another name.",
    "name",
    "There is already a group name. Choose another name.",
  ],
])("%s", (message, param, told) => {
  expect(() => nameFlags(new ManageError("invalid_value", message, param))).toThrow(told);
});
