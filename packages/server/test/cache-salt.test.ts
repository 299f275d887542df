import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { answerPlace, chatWell, openPlace } from "@parley/inference/testing/places";
import type { Place } from "@parley/inference/testing/places";
import { areStoresShared, makeKeyIn, miniId, parley, startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { rotateKey } from "../src/accounts/keys/issue-key.ts";
import { databaseFile } from "../src/state/database-file.ts";
import { openState } from "../src/state/open-state.ts";

/**
 * The secret that keeps the cached prompts of keys apart. It is in the data folder, its salts reach the upstream, and callers
 * never see it.
 */

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-salt-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const remoteAt = (place: Place) => ({ urls: [place.url], model: "there", tokenizer: miniFolder });

const start = (place: Place, dataDir: string): Promise<TestServer> =>
  startTestServer({ settings: { dataDir, models: { "model-1-mini": { engine: "remote", remote: remoteAt(place) } } } });

const plain = { model: miniId, max_completion_tokens: 8 };

/** Returns the salt of the last request to the upstream. */
const saltAt = ({ requests }: Place): string =>
  (JSON.parse(requests.at(-1)?.body ?? "{}") as { readonly cache_salt: string }).cache_salt; // written by the engine under test

/** Rotates a key, and returns its new token. */
async function rotated(dataDir: string, id: string): Promise<string> {
  using state = openState(dataDir);
  return (await rotateKey(state.keys, id))?.token ?? "";
}

const run = (dataDir: string, ...args: readonly string[]) => parley([...args, "--data-dir", dataDir], { cwd: folder });

describe("the salt of a key", () => {
  test("cannot be set and is not learnt by a caller: no answer, header or log line has it", async () => {
    const place = await openPlace(answerPlace);
    await using server = await start(place, join(folder, "data"));
    const theirs = "a-salt-of-the-caller";
    const answer = await server.chat({ ...plain, cache_salt: theirs });
    const shown = [...answer.headers.values(), await answer.text()].join("\n");
    const salt = saltAt(place);
    expect(salt).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(answer.headers.get("x-ignored-params")).toContain("cache_salt");
    expect(place.requests.at(-1)?.body).not.toContain(theirs);
    const stream = await server.stream(plain);
    const everything = [shown, JSON.stringify(stream), ...server.logLines].join("\n");
    expect(everything).not.toContain(salt);
    expect(everything).not.toContain(theirs);
    const strict = await server.refuse({ ...plain, cache_salt: theirs }, { headers: { "x-strict-params": "true" } });
    expect(strict).toMatchObject({ status: 400, param: "cache_salt" });
  });

  test.skipIf(areStoresShared)(
    "is its own, and stays through a rotation, a restart and a restored backup",
    async () => {
      const place = await openPlace(answerPlace);
      const [dataDir, other] = [join(folder, "data"), join(folder, "other")];
      const { id, token } = await makeKeyIn(dataDir);
      const ask = async (server: TestServer, key: string): Promise<string> => {
        await server.complete(plain, { headers: { authorization: `Bearer ${key}` } });
        return saltAt(place);
      };
      let salt: string;
      {
        await using server = await start(place, dataDir);
        salt = await ask(server, token);
        expect(await ask(server, testKey)).not.toBe(salt);
        expect(await ask(server, token)).toBe(salt);
      }
      const renewed = await rotated(dataDir, id);
      const backup = join(folder, "backup.db");
      expect((await run(dataDir, "backup", backup)).code).toBe(0);
      expect((await run(other, "restore", backup)).code).toBe(0);
      await using restored = await start(place, other);
      expect(await ask(restored, renewed)).toBe(salt);
      for (const file of [databaseFile(dataDir), databaseFile(other), backup])
        expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  test("of the same id differs between two installations", async () => {
    const place = await openPlace(answerPlace);
    const salts = new Set<string>();
    for (const name of ["one", "two"]) {
      await using server = await start(place, join(folder, name));
      await server.complete(plain);
      salts.add(saltAt(place));
    }
    expect(salts.size).toBe(2);
  });
});

describe("doctor", () => {
  const examine = async (place: Place, remote: object) => {
    const file = join(folder, "parley.yaml");
    const models = { "model-1-mini": { engine: "remote", remote: { ...remoteAt(place), ...remote } } };
    writeFileSync(file, JSON.stringify({ models }));
    const { stdout, code } = await run(join(folder, "data"), "doctor", "--config", file, "--json");
    return { code, findings: JSON.parse(stdout) as readonly { readonly seen: string; readonly problem: string }[] }; // `doctor` writes it
  };

  test("names an upstream that cannot keep keys apart, until the operator accepts it", async () => {
    const place = await openPlace(chatWell, 0, "/v1/chat/completions");
    const { code, findings } = await examine(place, { protocol: "chat" });
    expect(findings.map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining("whether another key has sent a prompt"),
    );
    expect(code).toBe(1);
    const accepted = await examine(place, { protocol: "chat", cache_salt: false });
    expect(accepted.findings.map(({ seen }) => seen)).toContainEqual(expect.stringContaining("cache_salt says"));
  });

  test("says so where an upstream does not answer, which keeps no server from starting", async () => {
    const place = await openPlace(answerPlace);
    await place.stop();
    const { findings } = await examine(place, {});
    expect(findings).toContainEqual(
      expect.objectContaining({ seen: expect.stringContaining("could not be tried") as string, problem: "" }),
    );
  });
});
