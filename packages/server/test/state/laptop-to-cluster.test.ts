import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startValkey, TestPostgres } from "@parley/server/testing";
import { GuideSession, readShellCommands } from "../guide-session.ts";
import { canShare } from "../use-replicas.ts";

/** Types the commands of the guide in their order, in one folder, with a real PostgreSQL and Valkey. */

const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/laptop-to-cluster.md"), "utf8");

test("the guide goes to PostgreSQL and back", () => {
  const verbs = readShellCommands(guide).map((typed) => typed.replace("npx -y pnpm@12.21.0 ", "").replace(/ *#.*/, ""));
  expect(verbs.filter((verb) => verb.includes("migrate"))).toEqual([
    "parley migrate --dry-run",
    "parley migrate",
    "parley migrate --back",
  ]);
});

test.skipIf(!canShare)(
  "its commands keep the key of a server, to PostgreSQL and back (this needs PostgreSQL and Valkey)",
  { timeout: 120_000 },
  async () => {
    await using postgres = await TestPostgres.start();
    await using valkey = await startValkey();
    await using session = await GuideSession.open();
    const real: Readonly<Record<string, string>> = {
      PARLEY_DATABASE_URL: postgres.urlOf(await postgres.createDatabase()),
      PARLEY_VALKEY_URL: valkey.url,
    };
    await session.start();
    const ask = async (): Promise<string> => {
      const call = `curl -s http://127.0.0.1:8080/v1/models -H "Authorization: Bearer $(cat .parley/key-*)"`;
      return (await session.runToEnd(call)).output;
    };
    expect(await ask()).toContain('"object":"list"');
    for (const command of readShellCommands(guide)) {
      const [verb = "", ...rest] = command.split(/[ =]/);
      if (verb === "export") session.setVariables({ [rest[0] ?? ""]: real[rest[0] ?? ""] });
      else if (verb === "unset") session.setVariables(Object.fromEntries(rest.map((name) => [name, undefined])));
      else if (command.endsWith(" start")) {
        expect(await session.start()).toContain("one of those made before");
        expect(await ask()).toContain('"object":"list"');
      } else {
        const { isDone, output } = await session.runToEnd(command);
        expect([command, isDone ? "" : output]).toEqual([command, ""]);
        if (command.includes("keys list")) expect(output).toMatch(/first key +active/);
      }
    }
  },
);
