// Inputs that several steps of the pipeline share: files and folders of the repository.

export const contract = ["openapi", "packages/contract", "generate"];
export const site = ["site", "packages/partners", "packages/client/README.md", "CHANGELOG.md"]; // every server serves it
export const inference = ["packages/inference", "packages/json-schema-grammar", "demo-models"];
export const server = ["packages/server", ...inference, ...contract, ...site, "docs", "deploy/parley.service"];
export const shown = [...server, "README.md", "packages/client"]; // every page that shows a request
export const conformance = ["packages/conformance", "packages/client", ...server]; // client mode judges our client
export const typescript = [
  "bench",
  "deploy",
  "docs",
  "fuzz",
  "generate",
  "openapi",
  "packages",
  "repository-tests",
  "site",
];
/** Input of the tests about the tree, which list its files with git. */
export const everything = ["."];
