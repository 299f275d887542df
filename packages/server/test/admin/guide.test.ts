import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parley } from "@parley/server/testing";
import { startAdmin } from "./use-admin.ts";

const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/admin-api.md"), "utf8");

test("the commands and the request of the guide about the admin API work", async () => {
  await using admin = await startAdmin();
  const env = { PARLEY_DATA_DIR: admin.server.dataDir, PARLEY_ENGINE: "scripted" };
  const commands = Array.from(guide.matchAll(/^npx -y pnpm@\S+ parley (.*)$/gm), ([, command = ""]) => command);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands)
    expect([command, (await parley(command.split(" "), { env })).code]).toEqual([command, 0]);
  const token = await admin.makeKey(["groups:write"]);
  const [, path = "", body = ""] = /curl http:\/\/127\.0\.0\.1:9465\/admin\/v1(\S+)[^']*'(.*)'/.exec(guide) ?? [];
  const reply = await admin.call(token, "POST", path, body);
  expect(reply.status).toBe(201);
  expect(reply.body).toMatchObject({ name: "team", period: "month" });
});
