// The entry of every script of package.json. It runs on any version of Node, so it is plain JavaScript. It installs the
// packages that the verb needs, finds Node 24, and runs the command with it.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const cli = join(root, "packages/server/src/cli/main.mjs");
const neededNode = 24;
/** What the server's Node is started with, see docs/guides/services.md. */
const serverFlags = JSON.parse(readFileSync(join(root, "packages/server/src/node-flags.json"), "utf8"));

/** What each verb runs, whether it needs the development packages, and whether it runs the bundle of the server. */
const verbs = {
  start: { command: ["node", ...serverFlags, cli, "start"], isDevelopment: false, isBundled: true },
  parley: { command: ["node", ...serverFlags, cli], isDevelopment: false, isBundled: true },
  dev: { command: ["node", ...serverFlags, "--watch", cli, "start"], isDevelopment: false },
  generate: { command: ["node", join(root, "generate/main.ts")], isDevelopment: true },
  "contract:diff": { command: ["node", join(root, "ci/contract-diff/main.ts")], isDevelopment: true },
  conformance: { command: ["node", join(root, "packages/conformance/src/cli/main.ts")], isDevelopment: true },
  partners: { command: ["node", join(root, "packages/partners/src/main.ts")], isDevelopment: true },
  apps: { command: ["node", join(root, "packages/partners/src/apps/main.ts")], isDevelopment: true },
  bench: { command: ["node", join(root, "bench/gateways/main.ts")], isDevelopment: true },
  "bench:embedded": { command: ["node", join(root, "bench/embedded.ts")], isDevelopment: true },
  "bench:floor": { command: ["node", ...serverFlags, join(root, "bench/floor.ts")], isDevelopment: true },
  schemas: { command: ["node", join(root, "packages/json-schema-grammar/bench/main.ts")], isDevelopment: true },
  pressure: { command: ["node", join(root, "bench/pressure/main.ts")], isDevelopment: true },
  fuzz: { command: ["node", join(root, "fuzz/main.ts")], isDevelopment: true },
  check: {
    command: ["node", join(root, "ci/run.ts"), "--only", "types,lint,format,contract-lint"],
    isDevelopment: true,
  },
  pipeline: { command: ["node", join(root, "ci/dagger.ts")], isDevelopment: true },
  test: { command: ["node", join(root, "ci/run.ts")], isDevelopment: true },
  "report:vllm": { command: ["node", join(root, "bench/vllm/report.ts")], isDevelopment: true },
  "test:vllm": { command: ["node", join(root, "ci/test-vllm.ts")], isDevelopment: true },
};

const [name, ...args] = process.argv.slice(2);
const verb = verbs[name];
if (!verb) fail(`There is no "${name ?? ""}".${suggestion(name)} There are: ${Object.keys(verbs).join(", ")}.`);

install(verb.isDevelopment);
const node = findNode();
if (verb.isBundled) await bundle(node);
run([node, ...verb.command.slice(1), ...args]);

/** Once per lock file: `start` without the development packages, so that a first answer does not wait for them. */
function install(isDevelopment) {
  const stamp = join(root, "node_modules/.parley-installed");
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "pnpm-lock.yaml")))
    .digest("hex");
  const [installedLock, installed] = existsSync(stamp) ? readFileSync(stamp, "utf8").split(" ") : [];
  if (installedLock === lock && (installed === "all" || !isDevelopment)) return;
  const pnpm = process.env.npm_execpath;
  if (!pnpm) fail("The packages are not installed. Run this through pnpm: npx -y pnpm@12.21.0 install");
  process.stderr.write(`Installing ${isDevelopment ? "all packages" : "what the server needs"} (once).\n`);
  const flags = ["install", "--frozen-lockfile", "--reporter=append-only", ...(isDevelopment ? [] : ["--prod"])];
  const isScript = /\.[cm]?js$/.test(pnpm);
  const { status } = spawnSync(isScript ? process.execPath : pnpm, isScript ? [pnpm, ...flags] : flags, {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0)
    fail("The installation failed, see above. It needs the npm registry; try again when it can be reached.");
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stamp, `${lock} ${isDevelopment ? "all" : "server"}`);
}

/** The Node 24 of the installed package, or one on this machine where the platform has no such package. */
function findNode() {
  const brought = join(root, "node_modules/.bin/node");
  const candidates = [...(existsSync(brought) ? [brought] : []), process.execPath, "node"];
  const found = candidates.find((candidate) => majorOf(candidate) >= neededNode);
  if (!found)
    fail(
      `Parley needs Node ${neededNode}, and there is none for this platform in the registry: install Node ${neededNode} or newer.`,
    );
  return found;
}

/**
 * Bundles the server if its sources have changed since the last bundle. This takes a second and makes every later start faster. If bundling
 * fails, it prints the reason, and the server starts from its sources.
 */
async function bundle(node) {
  const folder = new URL("packages/server/src/bundle/", import.meta.url);
  const { freshBundle } = await import(new URL("fresh-bundle.mjs", folder).href);
  if (freshBundle() === undefined)
    spawnSync(node, [fileURLToPath(new URL("main.ts", folder))], { stdio: ["ignore", 2, 2] });
}

function majorOf(node) {
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  return status === 0 ? Number.parseInt(stdout.slice(1), 10) : 0;
}

/** A terminal signals the child itself. A SIGTERM to this process is forwarded. */
function run([program, ...programArgs]) {
  const path = [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter);
  const child = spawn(program, programArgs, { stdio: "inherit", env: { ...process.env, PATH: path } });
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    process.exitCode = signal ? 1 : code;
  });
}

/** The verb that is nearest to what was typed, where one is near. */
function suggestion(typed = "") {
  const [nearest] = Object.keys(verbs)
    .map((verb) => ({ verb, distance: distanceOf(typed, verb) }))
    .filter(({ verb, distance }) => distance <= Math.ceil(verb.length / 3))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest ? ` Did you mean ${nearest.verb}?` : "";
}

/** How many letters have to be added, removed or replaced. No package that could count them is installed yet. */
function distanceOf(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_none, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min(row[j] + (letter === other ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[b.length];
}

function fail(message) {
  process.stderr.write(`parley: ${message}\n`);
  process.exit(1);
}
