import type { components } from "@parley/contract/admin-types";
import type { Command } from "commander";
import { Option } from "commander";
import { listAll, openManage } from "./manage.ts";
import { readPast, readWhole } from "./read-argument.ts";
import { manageFlags } from "./settings.ts";
import { toTable } from "./table.ts";

type AuditEntry = components["schemas"]["AuditEntry"];

interface AuditFlags {
  readonly since?: number;
  readonly until?: number;
  readonly action?: string;
  readonly actor?: string;
  readonly outcome?: "done" | "refused";
  readonly target?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

export function addAuditCommand(program: Command): void {
  const audit = program
    .command("audit")
    .description("the log of changes of keys, groups and admin keys, and of refused attempts")
    // Flags after `prune` belong to that subcommand.
    .enablePositionalOptions();
  manageFlags
    .addTo(audit)
    .option("--since <when>", "only entries since a date (2026-11-01, UTC) or a time ago (7d, 12h)", readPast)
    .option("--until <when>", "only entries before a date or a time ago", readPast)
    .option("--action <action>", "only entries with this action, such as createKey")
    .option("--actor <actor>", "only entries of this admin key (id or name) or user")
    .option("--target <id>", "only entries about the key, group or admin key with this id")
    .addOption(new Option("--outcome <outcome>", "only entries with this outcome").choices(["done", "refused"]))
    .option("--limit <n>", "only the newest entries, at most this number", readWhole)
    .option("--json", "as one JSON object in each line (NDJSON)")
    .action(async ({ since, until, json, action, actor, outcome, target, limit }: AuditFlags) => {
      await using manage = await openManage(manageFlags.configOf(audit));
      const query = {
        ...(since !== undefined && { since: isoTime(since) }),
        ...(until !== undefined && { until: isoTime(until) }),
        ...(action !== undefined && { action }),
        ...(actor !== undefined && { actor }),
        ...(outcome !== undefined && { outcome }),
        ...(target !== undefined && { target }),
      };
      const entries = await listAll(manage.perform, "listAudit", query, limit);
      process.stdout.write(
        json === true ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join("") : toAuditTable(entries),
      );
    });
  addPrune(audit);
}

function addPrune(audit: Command): void {
  const prune = audit.command("prune").description("delete old entries; the pruning is an entry itself");
  manageFlags
    .addTo(prune)
    .requiredOption("--before <when>", "a date (2026-11-01, UTC) or a time ago (365d)", readPast)
    .action(async ({ before }: { readonly before: number }) => {
      await using manage = await openManage(manageFlags.configOf(prune));
      const input = { id: undefined, query: {}, body: { before: isoTime(before) } };
      const { deleted } = await manage.perform("pruneAudit", input);
      process.stdout.write(`${deleted} entries are deleted.\n`);
    });
}

const toAuditTable = (entries: readonly AuditEntry[]): string =>
  toTable(
    ["id", "time", "actor", "from", "action", "target", "outcome", "reason"],
    entries.map((entry) => [
      String(entry.id),
      entry.at,
      entry.actor.kind === "token" ? `(token) ${entry.actor.name}` : entry.actor.name || "(unknown)",
      entry.from.address,
      entry.action,
      entry.target.name ?? entry.target.id ?? "-",
      entry.attempts > 1 ? `${entry.outcome} (${entry.attempts} times)` : entry.outcome,
      entry.reason ?? "",
    ]),
  );
