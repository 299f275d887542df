import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// node packages/json-schema-grammar/test/official-suite/import-suite.ts FOLDER: takes over the official tests, where FOLDER is
// a checkout of github.com/json-schema-org/JSON-Schema-Test-Suite.

const drafts = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"];

/** It wants the keywords `content…` to be enforced, and `content.json` wants them to be annotations. */
const leftOut = "optional/content.json";

const [folder = "."] = process.argv.slice(2);
for (const draft of drafts) {
  const tests = join(folder, "tests", draft);
  const names = readdirSync(tests, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".json") && name !== leftOut,
  );
  const files = names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${withoutBlanks(readFileSync(join(tests, name), "utf8"))}`);
  writeFileSync(join(import.meta.dirname, `${draft}.json`), `{\n${files.join(",\n")}\n}\n`);
}

/** The text itself, not its value: how a number is written is part of a test. */
function withoutBlanks(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}
