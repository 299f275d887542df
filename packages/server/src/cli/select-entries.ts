import type { Command } from "commander";
import type { Input } from "../accounts/manage/verb.ts";
import { readPast } from "./read-argument.ts";

export interface SelectionFlags {
  readonly since?: number;
  readonly until?: number;
  readonly key?: string;
  readonly model?: string;
}

export const addSelectionFlags = (command: Command): Command =>
  command
    .option("--since <when>", "only requests since a date (2026-11-01, UTC) or a time ago (7d, 12h)", readPast)
    .option("--until <when>", "only requests before a date or a time ago", readPast)
    .option("--key <key>", "only requests of this key (id or name)")
    .option("--model <id>", "only requests for this model (any of its names)");

/** Returns the query of the admin API that the flags describe. */
export const toQuery = ({ since, until, key, model }: SelectionFlags): Input<"getUsage">["query"] => ({
  ...(since !== undefined && { since: new Date(since).toISOString() }),
  ...(until !== undefined && { until: new Date(until).toISOString() }),
  ...(key !== undefined && { key }),
  ...(model !== undefined && { model }),
});
