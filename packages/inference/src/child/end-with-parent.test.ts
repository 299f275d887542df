import { expect, test } from "vitest";
import { EngineProcess } from "../supervision/engine-process.ts";

const module = JSON.stringify(new URL("end-with-parent.ts", import.meta.url).href);
const error = "new Error('no room\\nfor it', { cause: new RangeError('the root of it') })";

test.each([
  ["throws", `setTimeout(() => { throw ${error}; }, 10)`],
  ["leaves a rejection unhandled", `setTimeout(() => Promise.reject(${error}), 10)`],
])("a process that %s writes all of it, and its message last", async (_title, fault) => {
  const lines: string[] = [];
  const program = `import(${module}).then(({ endWithParent }) => { endWithParent(); ${fault}; });`;
  const child = { command: process.execPath, args: ["-e", program], endsBy: "input" } as const;
  expect(await new EngineProcess(child, (line) => lines.push(line)).ended).toBe("exit code 1");
  expect(lines.join("\n")).toMatch(/^Error: no room\nfor it\n +at [^]+the root of it[^]+\nno room for it$/);
});
