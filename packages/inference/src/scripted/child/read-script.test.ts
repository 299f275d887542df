import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readScript } from "./read-script.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-script-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string): Promise<unknown> {
  const file = join(folder, "script.json");
  writeFileSync(file, text);
  return readScript(file);
}

test("a script is read unchanged", async () => {
  const script = {
    scenarios: { a: [{ role: true }, { repeat: 2, steps: [{ text: "b", tokens: 3 }] }, { finish: "stop" }] },
  };
  expect(await read(JSON.stringify(script))).toEqual(script);
  expect(await readScript(undefined)).toEqual({ scenarios: {} });
});

test.each([
  ["{", /JSON/],
  ["[]", /must be \{"scenarios"/],
  ['{"scenarios": []}', /must be \{"scenarios"/],
  ['{"scenarios": {"a": {}}}', /scenario "a" must be a list of steps/],
  [
    '{"scenarios": {"a": [{"text": "b"}, {"delta": {}}]}}',
    /step 2 of scenario "a" must have one of role, text.*, not \{"delta":\{\}\}/,
  ],
  ['{"scenarios": {"a": [{"text": "b", "die": true}]}}', /step 1 of scenario "a" must have one of/],
  ['{"scenarios": {"a": [{"wait_ms": -1}]}}', /step 1 of scenario "a" has a wrong wait_ms: -1/],
  ['{"scenarios": {"a": [{"tool": "f"}]}}', /step 1 of scenario "a" has a wrong tool/],
  [
    '{"scenarios": {"a": [{"repeat": 2, "steps": [{"say": ""}]}]}}',
    /step 1 of the repeated step 1 of scenario "a" must have/,
  ],
])("%s is told with its place", async (text, reason) => {
  await expect(read(text)).rejects.toThrow(reason);
});

test("the error for a missing file names it", async () => {
  await expect(readScript(join(folder, "nowhere.json"))).rejects.toThrow(/nowhere\.json cannot be played/);
});
