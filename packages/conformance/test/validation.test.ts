import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBaseline } from "../src/cli/baseline-file.ts";
import { readProfileFile } from "../src/cli/profile-flags.ts";
import { capabilities, document, levels } from "../src/contract/contract.ts";
import { profileNames } from "../src/contract/select-clauses.ts";
import { keyRoles } from "../src/profile.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const readSchema = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}.schema.json`, import.meta.url), "utf8"));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-conformance-files-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(value: unknown): string {
  const file = join(folder, "given.json");
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
}

describe("a profile file is refused with the member and the nearest right name", () => {
  test.each([
    ["an unknown member", { levls: ["core"] }, 'has the unknown member `levls`; did you mean "levels"?'],
    ["an unknown level", { levels: ["cores"] }, '`levels.0` is "cores"; did you mean "core"?'],
    ["a list", [1], "the file must be object, and it is [1]."],
    [
      "an unknown selector",
      { only: ["STRM-999"] },
      '`only.0` is "STRM-999", which is not a clause, a chapter or a tag',
    ],
    ["an unknown role of a key", { keys: { expird: { env: "K" } } }, 'did you mean "expired"?'],
    ["an unknown deadline", { deadlines: { keepAlive: 1 } }, "has the unknown member `keepAlive`; "],
    ["an unknown profile", { extends: "open-ai" }, 'did you mean "openai"?'],
    ["text that is not JSON", "{", "is not JSON: "],
  ])("%s", (_title, value, sentence) => {
    const file = written(value);
    expect(() => readProfileFile(file)).toThrow(sentence);
    expect(() => readProfileFile(file)).toThrow(file);
  });

  test("a file that does not exist", () => {
    expect(() => readProfileFile("opnai")).toThrow('There is no profile and no file opnai; did you mean "openai"?');
    expect(() => readProfileFile(join(folder, "none.json"))).toThrow("There is no file ");
  });
});

describe("a baseline is refused with the member and the nearest right name", () => {
  const entry = { clause: "AUTH-08", reason: "a proxy takes it away", expires: "2999-01-01" };
  test.each([
    [
      "an unknown clause",
      { known: [{ ...entry, clause: "AUHT-08" }] },
      '`known.0.clause` is "AUHT-08", which is not a clause; did you mean "AUTH-08"?',
    ],
    ["a missing date", { known: [{ clause: "AUTH-08", reason: "x" }] }, "`known.0` lacks the member `expires`."],
    [
      "an impossible date",
      { known: [{ ...entry, expires: "2027-02-30" }] },
      '`known.0.expires` is "2027-02-30", which is not a date such as 2027-01-31.',
    ],
    [
      "a past date",
      { known: [{ ...entry, expires: "2026-01-31" }] },
      "AUTH-08 was allowed until 2026-01-31, which is past",
    ],
    ["no list", {}, "the file lacks the member `known`."],
    ["a list without its object", [entry], "the file must be object"],
  ])("%s", (_title, value, sentence) => {
    expect(() => readBaseline(written(value), "2026-11-27")).toThrow(sentence);
  });

  test("and accepted with a date of today or later", () => {
    expect(readBaseline(written({ known: [{ ...entry, expires: "2026-11-27" }] }), "2026-11-27").known).toHaveLength(1);
  });
});

test("a wrong file or selector ends with 2 and one sentence, before any request", async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  const run = (...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> =>
    new Promise((resolve) => {
      const all = ["run", "--base-url", `http://127.0.0.1:${port}/v1`, "--api-key-env", "K", ...args];
      execFile(process.execPath, [main, ...all], { env: { ...process.env, K: "key-123456" } }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), text: out + err }),
      );
    });
  for (const args of [
    ["--profile", written({ levls: [] })],
    ["--baseline", join(folder, "none.json")],
    ["--write-baseline", join(folder, "none", "known.json")],
    ["--only", "STRN"],
    ["--skip", "AUTH-080"],
    ["--contract", "9.9"],
    ["--requirements", "2026-13"],
  ]) {
    const { code, text } = await run(...args);
    expect([args[0], code]).toEqual([args[0], 2]);
    expect(text.trim().split("\n")).toHaveLength(1);
  }
  expect(requests).toBe(0);
  server.close();
}, 60_000);

test("the schema of a profile names the levels, capabilities, profiles, roles and deadlines of the suite", () => {
  expect(readSchema("profile")).toMatchObject({
    properties: {
      extends: { enum: profileNames },
      levels: { items: { enum: levels } },
      capabilities: { items: { enum: capabilities } },
      deadlines: {
        propertyNames: { enum: Object.keys(document["x-limits"]).filter((name) => name.endsWith("Seconds")) },
      },
    },
  });
  const { keys } = (
    readSchema("profile") as { readonly properties: { readonly keys: { readonly properties: object } } }
  ).properties; // it is in this repository
  expect(Object.keys(keys.properties)).toEqual(keyRoles);
});
