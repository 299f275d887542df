import { hostname, userInfo } from "node:os";
import createClient from "openapi-fetch";
import type { paths } from "@parley/contract/admin-types";
import type { Actor } from "../accounts/manage/actor.ts";
import { ManageError } from "../accounts/manage/manage-error.ts";
import type { ManageCode } from "../accounts/manage/manage-error.ts";
import type { AuditRecord } from "../accounts/audit/audit-log.ts";
import type { ManagedState } from "../accounts/manage/managed-state.ts";
import { performFor, routes } from "../accounts/manage/perform.ts";
import type { Perform } from "../accounts/manage/perform.ts";
import type { Answer, Input, Operation } from "../accounts/manage/verb.ts";
import { modelResolver } from "../admin/resolve-model.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";
import { ownVersion } from "../observe/own-version.ts";
import { openExistingStateOf, openStateOf } from "../state/open-state.ts";

/** The verbs as a command uses them: on the state, or on a server's admin API. */
export interface Manage extends AsyncDisposable {
  readonly perform: Perform;
}

/**
 * Opens the verbs. With PARLEY_ADMIN_URL they go over HTTP.
 * @param isNew true if the state may be created
 * @throws {StateError} {ConfigError}
 */
export async function openManage(config: Config, isNew = false): Promise<Manage> {
  const { adminUrl, adminKey } = config;
  if (adminUrl !== undefined) {
    if (adminKey === undefined)
      throw new ConfigError(["PARLEY_ADMIN_URL is set, so PARLEY_ADMIN_KEY must be set, too: it has the admin key."]);
    return { perform: withFlags(performOver(adminUrl, adminKey)), [Symbol.asyncDispose]: async () => undefined };
  }
  const state = await (isNew ? openStateOf(config) : openExistingStateOf(config));
  return {
    perform: withFlags(performAsUser(state, config)),
    [Symbol.asyncDispose]: async () =>
      Symbol.asyncDispose in state ? state[Symbol.asyncDispose]() : state[Symbol.dispose](),
  };
}

/** Returns the verbs with refusals that name the flags of a command. */
const withFlags =
  (perform: Perform): Perform =>
  (operation, input) =>
    perform(operation, input).catch(nameFlags);

/** Returns the verbs as the user of this process uses them. */
export function performAsUser(state: ManagedState, config: Config): Perform {
  // One command makes few attempts, so none of them is left out.
  const refused = {
    note: (record: AuditRecord) => state.transact(({ audit }) => audit.append(record)),
  };
  return performFor({ state, refused, resolveModel: modelResolver(config), nowMs: Date.now }, userActor());
}

/** Returns the user of this process as an actor. @param agent the program or signal by which the user acts */
export const userActor = (agent = `parley/${ownVersion}`): Actor => ({
  kind: "user",
  name: userName(),
  from: { address: hostname(), agent },
});

/** Returns the name of the user, or its number if the system does not know a name, as in many containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Returns the verbs of a server's admin API. */
export function performOver(url: string, key: string): Perform {
  const client = createClient<paths>({ baseUrl: url.replace(/\/$/, ""), headers: { authorization: `Bearer ${key}` } });
  return async <Op extends Operation>(operation: Op, { id, query, body }: Input<Op>): Promise<Answer<Op>> => {
    const route = routes.find((one) => one.operation === operation);
    if (!route) throw new Error(`The admin API has no operation ${operation}.`);
    const request = client.request as (
      method: string,
      path: string,
      init: object,
    ) => Promise<{ data?: unknown; error?: unknown; response: Response }>; // the operation is only known at run time
    const init = { params: { path: { id }, query }, body };
    const { data, error, response } = await request(route.method.toLowerCase(), route.path, init).catch(
      (cause: unknown) => {
        throw lostAnswer(cause, url, route.method);
      },
    );
    if (response.ok) return data as Answer<Op>; // the server holds its answers to the contract
    throw toError(error, response.status, url);
  };
}

/** The codes of sockets that were never connected. An address that cannot be used has no code. */
const unsentCode = /^(?:undefined|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

function lostAnswer(cause: unknown, url: string, method: string): Error {
  // The error of `fetch` has the one of the socket as its cause.
  const { code } = ((cause instanceof Error && cause.cause) || {}) as { readonly code?: unknown };
  return method === "GET" || unsentCode.test(String(code))
    ? new Error(`The admin API at ${url} cannot be reached.`, { cause })
    : new Error(
        `The connection to the admin API at ${url} was lost, so the change may or may not have been made. Look before you try again.`,
        { cause },
      );
}

function toError(body: unknown, status: number, url: string): Error {
  // Other servers may answer with anything.
  const { error } = (typeof body === "object" && body ? body : {}) as {
    readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly param?: unknown };
  };
  if (typeof error?.code !== "string" || typeof error.message !== "string")
    return new Error(`${url} answers with ${status}, and not as an admin API does.`);
  const param = typeof error.param === "string" ? error.param : null;
  return new ManageError(error.code as ManageCode, error.message, param); // a code of the contract
}

/** Members of the admin API whose flags have other names. */
const otherNames: Readonly<Record<string, string>> = {
  "budget_raise.usd": "--raise-usd",
  "budget_raise.until": "--raise-until",
  budget_raise: "--raise-usd",
  group_id: "--group",
  parent_id: "--parent",
  overlap_seconds: "--overlap",
  key_ceiling: "--key-…",
};

/** Members whose names are not words of ordinary sentences. */
const members = [
  ...Object.keys(otherNames),
  "monthly_budget_usd",
  "budget_usd",
  "requests_per_minute",
  "tokens_per_minute",
  "time_zone",
  "max_keys",
];
const written = new RegExp(
  `(?<![\\w.-])(?:key_ceiling\\.)?(?:${members.join("|").replaceAll(".", "\\.")})(?![\\w-])`,
  "g",
);

/** Returns the flag that sets a member, such as `--raise-usd` for `budget_raise.usd`. */
export const flagOf = (member: string): string =>
  otherNames[member] ?? `--${member.replace(/^key_ceiling\./, "key_").replaceAll("_", "-")}`;

/** Throws a refusal of the admin API again, with flags in place of the members that it names. */
export function nameFlags(error: unknown): never {
  if (!(error instanceof ManageError)) throw error;
  const { code, message, param } = error;
  const told = message.replaceAll(written, flagOf);
  if (param === null) throw new ManageError(code, told);
  // A member such as `expires` is also an ordinary word. In these two places it is the member.
  const isFirst = told.startsWith(`${param} `);
  const rest = isFirst ? `${flagOf(param)}${told.slice(param.length)}` : told;
  throw new ManageError(code, rest.replace(` for ${param} is `, ` for ${flagOf(param)} is `), param);
}

const maxPageLength = 1000;

type Listing = "listKeys" | "listGroups" | "listAdminKeys" | "listAudit" | "listRequests";

/** Yields the pages of a list. @param query may have the length of a page, which otherwise is the maximum */
export async function* readPages<Op extends Listing>(
  perform: Perform,
  operation: Op,
  query?: Input<Op>["query"],
): AsyncGenerator<Answer<Op>["data"]> {
  let page: { readonly next: string | null } | undefined;
  do {
    const after = page?.next;
    const asked: object = { limit: maxPageLength, ...query, ...(after && { after }) };
    // A list has no id and no body.
    const read: Answer<Op> = await perform(operation, { id: undefined, query: asked, body: undefined } as Input<Op>);
    yield read.data;
    page = read;
  } while (page.next !== null);
}

/** Returns the first entries of a list, by default all. */
export async function listAll<Op extends Listing>(
  perform: Perform,
  operation: Op,
  query?: Input<Op>["query"],
  limit = Infinity,
): Promise<Answer<Op>["data"]> {
  const all: Answer<Op>["data"][number][] = [];
  // Each list has this parameter.
  const asked = { ...query, limit: Math.min(limit, maxPageLength) } as Input<Op>["query"];
  for await (const page of readPages(perform, operation, asked)) {
    all.push(...page);
    if (all.length >= limit) break;
  }
  return all.slice(0, limit) as Answer<Op>["data"]; // the entries of its pages
}
