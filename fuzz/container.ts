import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { contract, namesForSchemathesis } from "./run.ts";
import type { Schemathesis } from "./run.ts";
import { NotThere } from "./python.ts";
import { workFolder } from "./work-folder.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL(".", import.meta.url));

/** An image that has it already, such as Schemathesis's own of the same version; without it ours is built. */
const given = process.env["PARLEY_FUZZ_IMAGE"];

/**
 * Schemathesis in a container: for pipelines, which have Docker rather than Python. Files lie in it where they lie here,
 * and it shares the network of this machine, so that what is said of the run is true in both.
 * @throws {NotThere}
 */
export async function prepareContainer(): Promise<Schemathesis> {
  await run("docker", ["version"]).catch((error: { stderr?: string }) => {
    throw new NotThere(
      `Docker does not answer: ${(error.stderr ?? "").trim().split("\n").at(-1) || "it is not installed"}`,
    );
  });
  const image = given ?? (await buildImage());
  mkdirSync(workFolder, { recursive: true });
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  return [
    ...(["docker", "run", "--rm", "--init", "--network", "host", "--user", user, "--workdir", workFolder] as const),
    ...[folder, dirname(contract)].flatMap((path) => ["--volume", `${path}:${path}:ro`]),
    "--volume",
    `${workFolder}:${workFolder}`,
    // By name: the values hold keys, and the command line is there for everybody to read.
    ...namesForSchemathesis.flatMap((name) => ["--env", name]),
    image,
  ];
}

async function buildImage(): Promise<string> {
  const inputs = ["Dockerfile", "requirements.lock"].map((name) => readFileSync(join(folder, name)));
  const digest = createHash("sha256").update(Buffer.concat(inputs)).digest("hex").slice(0, 12);
  const image = `parley/schemathesis:${digest}`;
  const isThere = await run("docker", ["image", "inspect", image]).then(
    () => true,
    () => false,
  );
  if (isThere) return image;
  process.stdout.write(`Building ${image} (once).\n`);
  await run("docker", ["build", "--network", "host", "--file", join(folder, "Dockerfile"), "--tag", image, folder], {
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout?: string; stderr?: string }) => {
    const said = `${error.stdout ?? ""}${error.stderr ?? ""}`.trim().split("\n").slice(-3).join(" ");
    throw new Error(`the image of Schemathesis could not be built: ${said}`, { cause: error });
  });
  return image;
}
