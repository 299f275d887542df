import type { Tool } from "../tool.ts";

/** Keeps the client's compiled dependencies for the next run. */
const cargo = "CARGO_TARGET_DIR=../cargo cargo";

export const rust: readonly Tool[] = [
  {
    name: "progenitor",
    title: "progenitor, eventsource-stream",
    version: "0.15.1",
    language: "Rust",
    document: "openapi-3.0.json",
    needs: ["cargo"],
    // The library is a macro that generates the client.
    generate: [`${cargo} build -q --lib`],
    compile: [`${cargo} build -q`],
    run: "../cargo/debug/parley-progenitor",
    remarks:
      "`deny(warnings)`. Knows OpenAPI 3.0 only. The program sends a stream's request itself, since the client reads whole answers. Growth: the tool's cause, an `enum` becomes a closed enum of Rust, and an unknown value is an error.",
  },
];
