import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("main.mjs", import.meta.url));

function check(schema: unknown, ...flags: readonly string[]) {
  const input = typeof schema === "string" ? schema : JSON.stringify(schema);
  return spawnSync(process.execPath, [program, "schema", "check", "-", ...flags], { input, encoding: "utf8" });
}

test("a schema that is enforced completely", () => {
  const { status, stdout } = check({ type: "object", properties: { a: { type: "string", format: "date" } } });
  expect(status).toBe(0);
  expect(stdout).toBe(
    "Enforced: type, properties, format.\n\nIt can be used for an answer and for strict functions.\n",
  );
});

test("the report names an unenforced keyword with its path and an alternative, and unknown keywords", () => {
  const tags = { type: "array", items: { type: "string" }, uniqueItems: true };
  const { status, stdout } = check({ type: "object", example: 1, properties: { tags } });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^properties\.tags\.uniqueItems .* items with an "enum" of few values/m);
  expect(stdout).toContain("without effect: example.");
});

test.each([
  ["no JSON", "{", /^parley: - is not JSON: /],
  ["no schema", "[1]", /^parley: - is not a JSON Schema/],
])("%s is told in a sentence", (_title, text, expected) => {
  const { status, stderr } = check(text);
  expect(status).toBe(1);
  expect(stderr).toMatch(expected);
});

test("a malformed or unsatisfiable schema is reported with its reason, also as JSON", () => {
  expect(check({ type: "colour" })).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('"type" is not valid'),
  });
  const { status, stdout } = check({ allOf: [{ type: "string" }, { type: "null" }] }, "--json");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ fault: { keyword: null, reason: expect.stringContaining("no finite") } });
});
