import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { builtSite } from "@parley/site";

// Runs Spectral on documents that servers serve, in versions of OpenAPI that it supports. It does not know 3.2 yet.

const folder = await builtSite();
const documents = ["openapi.yaml", "openapi-3.0.json", "admin-openapi.json"].map((name) => join(folder, name));
const flags = ["--ruleset", "openapi/spectral.yaml", "--fail-severity", "warn"];
process.exitCode = spawnSync("spectral", ["lint", ...documents, ...flags], { stdio: "inherit" }).status ?? 1;
