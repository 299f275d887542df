import { defineConfig } from "orval";

export default defineConfig({
  parley: {
    input: "./openapi.json",
    output: {
      target: "./parley.ts",
      client: "fetch",
      override: { mutator: { path: "./fetch-json.ts", name: "fetchJson" } },
    },
  },
});
