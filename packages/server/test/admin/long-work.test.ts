import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { freePort } from "@parley/server/testing";
import { performFor } from "../../src/accounts/manage/perform.ts";
import type { ManagedState } from "../../src/accounts/manage/managed-state.ts";
import { openAdmin } from "../../src/admin/open-admin.ts";
import { performOver } from "../../src/cli/manage.ts";
import { createLines } from "../../src/observe/log.ts";
import { openState } from "../../src/state/open-state.ts";
import { override } from "../state/override.ts";
import { useFolder } from "../use-folder.ts";
import { user } from "./use-admin.ts";

const folder = useFolder();
const idleMs = 2000;
const prune = { id: undefined, query: {}, body: { before: "2020-01-01T00:00:00Z" } };

test("a pruning that takes longer than a client may be silent gets its answer", async () => {
  using opened = openState(folder.fresh());
  const slow = async (): Promise<number> => wait(2 * idleMs, 7);
  const state: ManagedState = override(opened, { ledger: override(opened.ledger, { prune: slow }) });
  const common = { state, resolveModel: (name: string) => name, nowMs: Date.now };
  const body = { name: "portal", scopes: ["usage:prune" as const] };
  const perform = performFor({ ...common, refused: { note: async () => undefined } }, user);
  const { token } = await perform("createAdminKey", { id: undefined, query: {}, body });
  const config = { adminHost: "127.0.0.1", trustedProxies: [] };
  await using admin = await openAdmin({
    ...common,
    config,
    port: 0,
    log: createLines("error", null, (line) => expect.unreachable(line)),
    idleMs,
  });
  expect(await performOver(admin.url, token)("pruneUsage", prune)).toEqual({ deleted: 7 });
});

test("a command says whether its request was sent when it gets no answer", async () => {
  const server = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // an address, because it listens on a port
  const cut = performOver(`http://127.0.0.1:${port}`, "key");
  await expect(cut("pruneUsage", prune)).rejects.toThrow("may or may not have been made. Look before you try again.");
  await expect(cut("getSelf", { id: undefined, query: {}, body: undefined })).rejects.toThrow("cannot be reached");
  server.close();
  const closed = performOver(`http://127.0.0.1:${await freePort()}`, "key");
  await expect(closed("pruneUsage", prune)).rejects.toThrow("cannot be reached");
});
