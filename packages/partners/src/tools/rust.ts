import type { Tool } from "../tool.ts";
import { openLists, openListsRemark } from "./open-lists.ts";
import { openapiGenerator } from "./openapi-generator.ts";

/** Keeps the compiled dependencies, which the clients share, for the next run. */
const cargo = "CARGO_TARGET_DIR=../cargo cargo";

export const rust: readonly Tool[] = [
  {
    name: "progenitor",
    title: "progenitor, eventsource-stream",
    version: "0.15.1",
    language: "Rust",
    document: "openapi-3.0.json",
    needs: ["cargo", "jq"],
    // The library is a macro that generates the client.
    generate: [openLists, `${cargo} build -q --lib`],
    compile: [`${cargo} build -q`],
    run: "../cargo/debug/parley-progenitor",
    remarks: `\`deny(warnings)\`. Knows OpenAPI 3.0 only. The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
  {
    name: "openapi-generator-rust",
    title: "openapi-generator, rust, eventsource-stream",
    version: openapiGenerator.version,
    language: "Rust",
    document: "openapi.json",
    needs: ["cargo", "jq", "java", "mvn"],
    generate: [
      openLists,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g rust -i openapi.json -o parley --additional-properties=packageName=parley",
    ],
    compile: [`${cargo} build -q`],
    run: "../cargo/debug/parley-openapi-generator",
    remarks: `\`deny(warnings)\`. The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
];
