import type { components } from "@parley/contract/admin-types";
import { startTestServer } from "@parley/server/testing";
import type { TestOptions, TestServer } from "@parley/server/testing";
import type { AuditRecord } from "../../src/accounts/audit/audit-log.ts";
import { performFor } from "../../src/accounts/manage/perform.ts";
import type { Perform } from "../../src/accounts/manage/perform.ts";
import { modelResolver } from "../../src/admin/resolve-model.ts";
import { makeConfig } from "../../src/config/read-config.ts";
import { openStateOf } from "../../src/state/open-state.ts";
import { storesOf } from "../../testing/shared-stores.ts";

export type Scope = components["schemas"]["Scope"];
export type AuditEntry = components["schemas"]["AuditEntry"];

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if there is none. */
  readonly body: unknown;
  /** The code of the error; undefined for a success. */
  readonly code: string | undefined;
  readonly message: string;
}

/** A server with an admin port, and functions that call it. */
export interface AdminServer extends AsyncDisposable {
  readonly server: TestServer;
  readonly url: string;
  /** Performs verbs as the command of a user does, in the same state. */
  readonly local: Perform;
  /** Makes an admin key. @returns its token */
  makeKey(scopes: readonly Scope[], more?: object): Promise<string>;
  /** Sends a request with a token. `body` is sent as JSON, or as it is if it is a text. */
  call(token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Returns the entries of the audit log, the newest first. */
  audit(): Promise<readonly AuditEntry[]>;
}

export const user = { kind: "user", name: "tester", from: { address: "host", agent: "parley" } } as const;

export async function startAdmin(options: TestOptions = {}): Promise<AdminServer> {
  const server = await startTestServer({ ...options, settings: { adminPort: 0, ...options.settings } });
  const url = `${server.running.adminUrl}/admin/v1`;
  const databaseUrl = options.settings?.databaseUrl ?? storesOf(server.dataDir)?.databaseUrl;
  const state = await openStateOf({ dataDir: server.dataDir, databaseUrl });
  const refused = { note: (record: AuditRecord) => state.transact(({ audit }) => audit.append(record)) };
  const deps = { state, refused, resolveModel: modelResolver(makeConfig({ engine: "scripted" })), nowMs: Date.now };
  const local = performFor(deps, user);
  return {
    server,
    url,
    local,
    makeKey: async (scopes, more = {}) => {
      const body = { name: "portal", scopes: [...scopes], ...more };
      return (await local("createAdminKey", { id: undefined, query: {}, body })).token;
    },
    call: async (token, method, path, body, headers = {}) => {
      const content = body === undefined ? {} : { "content-type": "application/json" };
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...content, ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, ...read(text) };
    },
    audit: async () => (await local("listAudit", { id: undefined, query: { limit: 1000 }, body: undefined })).data,
    [Symbol.asyncDispose]: async () => {
      await (Symbol.asyncDispose in state ? state[Symbol.asyncDispose]() : state[Symbol.dispose]());
      await server[Symbol.asyncDispose]();
    },
  };
}

function read(text: string): Pick<Reply, "body" | "code" | "message"> {
  const body = parse(text);
  // An answer of the admin API may have these members.
  const { error } = (body ?? {}) as { readonly error?: { readonly code: string; readonly message: string } };
  return { body, code: error?.code, message: error?.message ?? "" };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
