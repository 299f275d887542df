import type { components } from "@parley/contract/admin-types";
import { environmentKey } from "../keys/find-caller.ts";
import { toTokenColumns } from "../ledger/token-columns.ts";
import type { EntrySelection, LedgerEntry } from "../ledger/usage-ledger.ts";
import { isWithin, reachOf } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import { LostAnswerError } from "./managed-state.ts";
import { changing } from "./verb.ts";
import type { Input, ReadVerb, VerbContext } from "./verb.ts";
import { timeOf, toMs } from "./wire.ts";

/**
 * Verbs about the ledger. The owner of a group sees the requests whose key was in the group, or in a group in it, when they
 * started.
 */

/** Returns the names of all keys that the ledger may contain, by id: also deleted keys, and the one of PARLEY_API_KEY. */
const keyNames = async ({ state }: VerbContext): Promise<ReadonlyMap<string, string>> =>
  new Map([...(await state.keys.names()), [environmentKey, "PARLEY_API_KEY"]]);

/** Returns the id of a key by its id or name. An owner can only name the keys that are in its reach now. */
async function keyIdOf(context: VerbContext, idOrName: string): Promise<string> {
  const { state, actor } = context;
  const names = await keyNames(context);
  if (names.has(idOrName)) return idOrName;
  const reach = reachOf(actor, await state.groups.list());
  const seen =
    reach && new Set((await state.keys.list()).flatMap((key) => (isWithin(reach, key.groupId) ? key.id : [])));
  const [id, ...others] = [...names].flatMap(([one, name]) =>
    name === idOrName && (!seen || seen.has(one)) ? [one] : [],
  );
  if (id === undefined) throw new ManageError("not_found", `There is no key ${idOrName}.`, "key");
  if (others.length === 0) return id;
  const ids = [id, ...others].join(", ");
  throw new ManageError("invalid_value", `Several keys are called ${idOrName}. Name one by its id: ${ids}.`, "key");
}

/** Returns the id of a model by any of its names, and other names as they are: the ledger may have former models. */
function modelIdOf({ resolveModel }: VerbContext, name: string): string {
  try {
    return resolveModel(name);
  } catch (error) {
    if (error instanceof ManageError) return name;
    throw error;
  }
}

/** Returns the requests that a query selects and its actor may see. */
async function selectionOf(context: VerbContext, query: Input<"getUsage">["query"]): Promise<EntrySelection> {
  const { since, until, key, model, group } = query;
  return {
    sinceMs: timeOf(since, "since"),
    untilMs: timeOf(until, "until"),
    keyId: key === undefined ? undefined : await keyIdOf(context, key),
    model: model === undefined ? undefined : modelIdOf(context, model),
    groupId: group,
    withinGroupId: context.actor.key?.groupId,
  };
}

const getUsage: ReadVerb<"getUsage"> = {
  read: async (context, { query }) => {
    const { by = "key" } = query;
    const sums = await context.state.ledger.sum(await selectionOf(context, query), by);
    const names =
      by === "key" ? await keyNames(context) : by === "group" ? await context.state.groups.names() : undefined;
    return { data: sums.map(([group, counts]) => ({ group, name: names?.get(group) ?? null, ...counts })) };
  },
};

const toRequest = (entry: LedgerEntry, names: ReadonlyMap<string, string>): components["schemas"]["Request"] => ({
  id: entry.id,
  started: new Date(entry.startedMs).toISOString(),
  ended: entry.endedMs === undefined ? null : new Date(entry.endedMs).toISOString(),
  key_id: entry.keyId,
  key_name: names.get(entry.keyId) ?? "",
  model: entry.model,
  is_stream: entry.isStream,
  outcome: entry.outcome,
  error_code: entry.errorCode ?? null,
  ...toTokenColumns(entry.usage),
  cost_usd: entry.costUsd,
  prompt_price: entry.pricing.prompt,
  completion_price: entry.pricing.completion,
  request_price: entry.pricing.request,
  cached_price: entry.pricing.input_cache_read ?? entry.pricing.prompt,
});

/** The last request of the page before. */
interface Place {
  readonly startedMs: number;
  readonly id: string;
}

function placeOf(after: string | undefined): Place | undefined {
  if (after === undefined) return undefined;
  const [, startedMs, id] = /^(\d{1,15})\.([!-~]+)$/.exec(after) ?? [];
  if (id === undefined) throw new ManageError("invalid_value", "after must be the `next` of a page.", "after");
  return { startedMs: Number(startedMs), id };
}

const listRequests: ReadVerb<"listRequests"> = {
  read: async (context, { query }) => {
    const { limit = 100, order = "newest", outcome, error: errorCode } = query;
    const selected = await selectionOf(context, query);
    const place = placeOf(query.after);
    const isNewest = order === "newest";
    const rest = place && (isNewest ? untilPlace(selected, place) : sincePlace(selected, place));
    const endedBeforeMs = timeOf(query.ended_before, "ended_before");
    const selection = { ...selected, ...rest, outcome, errorCode, endedBeforeMs };
    const entries: LedgerEntry[] = [];
    for await (const entry of context.state.ledger.entries(selection, isNewest ? "newest first" : "oldest first")) {
      // The selection also has the requests that started in the same millisecond, and were in the page before.
      const isSeen = entry.startedMs === place?.startedMs && (isNewest ? entry.id >= place.id : entry.id <= place.id);
      if (!isSeen) entries.push(entry);
      if (entries.length > limit) break;
    }
    const names = await keyNames(context);
    const page = entries.slice(0, limit);
    const last = entries.length > limit ? page.at(-1) : undefined;
    return { data: page.map((entry) => toRequest(entry, names)), next: last ? `${last.startedMs}.${last.id}` : null };
  },
};

const untilPlace = ({ untilMs = Infinity }: EntrySelection, { startedMs }: Place): EntrySelection => ({
  untilMs: Math.min(untilMs, startedMs + 1),
});
const sincePlace = ({ sinceMs = 0 }: EntrySelection, { startedMs }: Place): EntrySelection => ({
  sinceMs: Math.max(sinceMs, startedMs),
});

const getRequest: ReadVerb<"getRequest"> = {
  read: async (context, { id }) => {
    const { state, actor } = context;
    const entry = await state.ledger.find(id);
    const group = actor.key?.groupId;
    if (!entry || (group !== undefined && !entry.groupIds?.includes(group)))
      throw new ManageError("not_found", `The ledger has no request ${id}. Only admitted requests are recorded.`, "id");
    return toRequest(entry, await keyNames(context));
  },
};

/**
 * The requests are removed in many small steps, so that a server can write in between. They are too many for one transaction.
 * Its record is therefore written before: nothing is removed without one.
 */
const pruneUsage = changing<"pruneUsage", number, number>({
  check: async ({ state, actor, nowMs }, { body: { before } }) => {
    if (actor.key?.groupId !== undefined)
      throw new ManageError("outside_group", "This admin key is bound to a group, so it cannot prune the ledger.");
    const endedBeforeMs = toMs(before, "before");
    if (endedBeforeMs > nowMs) throw new ManageError("invalid_value", "before must be in the past.", "before");
    const sums = await state.ledger.sum({ endedBeforeMs }, "model");
    return sums.reduce((count, [, { requests }]) => count + requests, 0);
  },
  change: async (_context, { body: { before } }, requests) => {
    const beforeMs = toMs(before, "before");
    return { result: beforeMs, target: {}, after: { requests, before: new Date(beforeMs).toISOString() } };
  },
  show: async ({ state }, beforeMs) => {
    const deleted = await state.ledger.prune(beforeMs).catch((cause: unknown) => {
      const message =
        "The pruning is recorded, but the database was lost before all requests were removed. Prune again to remove the rest.";
      throw new LostAnswerError(message, { cause });
    });
    return { deleted };
  },
});

export const usageVerbs = { getUsage, listRequests, getRequest, pruneUsage };
