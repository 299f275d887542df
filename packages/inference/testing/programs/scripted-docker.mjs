import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A stand-in for `docker`, whose containers are scripted vLLMs. `SCRIPTED_DOCKER` is a folder: `facts.json` gives the answers
 * of its server, `calls.log` records the commands, and each container has a file with its process.
 */
const folder = process.env["SCRIPTED_DOCKER"];
const facts = JSON.parse(readFileSync(join(folder, "facts.json"), "utf8"));
const [verb, ...args] = process.argv.slice(2);
appendFileSync(join(folder, "calls.log"), `${JSON.stringify([verb, ...args])}\n`);
const after = (name) => args[args.indexOf(name) + 1];
const container = join(folder, "container");

const verbs = {
  version: () => facts.version ?? fail("Cannot connect to the Docker daemon"),
  image: () => (facts.labels ? JSON.stringify(facts.labels) : fail("No such image")),
  info: () =>
    after("--format").includes("Cgroup") ? (facts.cgroups ?? "") : JSON.stringify({ Runtimes: facts.runtimes ?? {} }),
  ps: () => (existsSync(container) ? "c0ffee" : ""),
  rm: remove,
  run,
};

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function remove() {
  if (existsSync(container)) {
    try {
      process.kill(Number(readFileSync(container, "utf8")), "SIGKILL");
    } catch {
      // The container has ended by itself.
    }
  }
  rmSync(container, { force: true });
  return "";
}

/** Runs a container attached: passes on its output, forwards signals, and exits with its status. */
function run() {
  const mount = args.find((arg) => arg.endsWith(":/run/parley")).replace(":/run/parley", "");
  const child = spawn(
    process.execPath,
    [facts.program, "serve", "--uds", join(mount, "api"), "--served-model-name", after("--served-model-name")],
    {
      stdio: "inherit",
      env: { ...process.env, SCRIPTED_VLLM: join(folder, "script.json") },
    },
  );
  writeFileSync(container, String(child.pid));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => {
    rmSync(container, { force: true });
    process.exit(signal ? 137 : code);
  });
  return undefined;
}

const answer = verbs[verb]();
if (answer !== undefined) console.log(answer);
