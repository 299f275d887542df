import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

export default defineConfig({
  input: { path: "./openapi.json" },
  output: { path: "./parley", extension: { ".ts": "" }, format: false },
  plugins: [
    pluginOas({ generators: [] }),
    pluginTs({ output: { path: "models" } }),
    pluginClient({ output: { path: "clients" }, importPath: "../../send" }),
  ],
});
