import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Document } from "@parley/contract/document";
import { contractFolder } from "../../openapi/checks/redocly.ts";
import { contractFiles } from "../../openapi/variants/index.ts";
import { exampleCalls } from "./example-calls.ts";
import { httpFile } from "./http-file.ts";
import { postmanCollection } from "./postman-collection.ts";

/** The files that the server offers to partners' tools, by their names there: the contract in every form, and requests. */
export async function offeredFiles(contract: Document): Promise<Map<string, string>> {
  const calls = exampleCalls(contract);
  const workflows = "workflows.arazzo.yaml";
  return new Map([
    ...contractFiles(contract),
    [workflows, await readFile(`${contractFolder}${workflows}`, "utf8")],
    ["schemathesis.toml", await readFile(join(import.meta.dirname, "schemathesis.toml"), "utf8")],
    ["parley.http", httpFile(calls)],
    ["parley.postman_collection.json", postmanCollection(calls)],
  ]);
}
