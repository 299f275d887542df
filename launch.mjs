// Scripts of package.json run this file: `node launch.mjs [flags] program [arguments]`. It runs on any version of Node, so it
// is plain JavaScript. It installs packages where they are missing, finds Node 24, and runs the program with it.
//
// --prod          installs only the packages of the server, and prefers a Node 24 or newer of this machine
// --bundle        bundles the server first
// --server-flags  runs the program with the flags of the server's Node, see docs/guides/services.md
//
// Node gets all other flags, such as --watch.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const neededNode = 24;
const ownFlags = new Set(["--prod", "--bundle", "--server-flags"]);

const words = process.argv.slice(2);
const firstWord = words.findIndex((word) => !word.startsWith("--"));
const flags = words.slice(0, firstWord);
const [program, ...args] = words.slice(firstWord);

install(!flags.includes("--prod"));
const node = findNode();
if (flags.includes("--bundle")) await bundle(node);
run([node, ...nodeFlags(), join(root, program), ...args]);

function nodeFlags() {
  const others = flags.filter((flag) => !ownFlags.has(flag));
  if (!flags.includes("--server-flags")) return others;
  return [...JSON.parse(readFileSync(join(root, "packages/server/src/node-flags.json"), "utf8")), ...others];
}

/** Installs packages once per lock file. A first start does not wait for those of development. */
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
  const options = ["install", "--frozen-lockfile", "--reporter=append-only", ...(isDevelopment ? [] : ["--prod"])];
  const isScript = /\.[cm]?js$/.test(pnpm);
  const { status } = spawnSync(isScript ? process.execPath : pnpm, isScript ? [pnpm, ...options] : options, {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0)
    fail("The installation failed, see above. It needs the npm registry. Try again when the registry can be reached.");
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stamp, `${lock} ${isDevelopment ? "all" : "server"}`);
}

/** Returns a Node 24 or newer. Development uses that of the installed package where there is one. */
function findNode() {
  const brought = join(root, "node_modules/.bin/node");
  const preferred = flags.includes("--prod") ? machineNodes() : [];
  const candidates = [...preferred, process.execPath, "node", ...(existsSync(brought) ? [brought] : [])];
  const found = candidates.find((candidate) => majorOf(candidate) >= neededNode);
  if (!found)
    fail(
      `Parley needs Node ${neededNode}, and the registry has none for this platform. Install Node ${neededNode} or newer.`,
    );
  return found;
}

/** Finds each `node` on the PATH but the installed package, which pnpm puts first. */
function machineNodes() {
  const found = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const files = found.filter((file) => existsSync(file)).map((file) => realpathSync(file));
  return [...new Set(files)].filter((file) => !file.startsWith(join(realpathSync(root), "node_modules")));
}

/**
 * Bundles the server if its sources have changed since the last bundle. This takes a second and makes later starts faster. If
 * bundling fails, it prints the reason, and the server starts from its sources.
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

/** Runs a command. A terminal sends its signals to the command, too. SIGTERM is forwarded. */
function run([file, ...fileArgs]) {
  const path = [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter);
  const child = spawn(file, fileArgs, { stdio: "inherit", env: { ...process.env, PATH: path } });
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    process.exitCode = signal ? 1 : code;
  });
}

function fail(message) {
  process.stderr.write(`parley: ${message}\n`);
  process.exit(1);
}
