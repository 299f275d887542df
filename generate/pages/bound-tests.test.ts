import { expect, test } from "vitest";
import { linkTo, testOf } from "./bound-tests.ts";

test("a bound that is not in the table makes no page", () => {
  expect(testOf("maxBodyBytes")).toContain("413.test.ts");
  expect(testOf("preflightCacheSeconds")).toBe("–");
  expect(() => testOf("newBound")).toThrow("names no test that exceeds newBound");
});

test.each([
  ["generate/pages/bound-tests.test.ts", "a title that was changed".replace("was", "has been")],
  ["docs/removed.test.ts", "a bound that is not in the table makes no page"],
])("a test that %s no longer has fails the page", (file, title) => {
  expect(() => linkTo([file, title])).toThrow(`${file} has no test "${title}"`);
});
