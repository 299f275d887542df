import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ReportCommand } from "@parley/common/flag-values";
import { findChanges } from "../contract-diff/find-changes.ts";
import { publishedPackages, readManifest } from "../manifests.ts";
import { pnpm } from "../pnpm.ts";
import { root } from "../root.ts";
import { compareBuilds } from "./compare-builds.ts";
import { findFaults, findMissing, has } from "./find-faults.ts";
import { buildImage, docker, releasedImages } from "./images.ts";
import { writeVersion } from "./write-version.ts";

interface Flags {
  readonly out: string;
  readonly images: boolean;
  readonly sign?: string;
  readonly dirty?: true;
}

const packages = publishedPackages(root);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs a program of the machine in the root of the repository. @throws {Error} when it fails */
const run = (command: readonly string[]): string => {
  const [file = "", ...args] = command;
  return execFileSync(file, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
};

function pack(out: string): void {
  for (const name of packages) {
    say(`Packing ${name}`);
    run([...pnpm, "--filter", name, "pack", "--pack-destination", out]);
  }
}

/** Packs the chart, with the alert rules and the board in place of its links to them. A commit gives the same file. */
function packChart(out: string): void {
  say("Packing the chart");
  const { version } = readManifest(root);
  const time = run(["git", "show", "--no-patch", "--format=%ct", "HEAD"]).trim();
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", `--mtime=@${time}`];
  // Without the second flag, values.yaml would be a hard link to its link, which Helm leaves out.
  const links = ["--dereference", "--hard-dereference"];
  const names = [...links, "--transform=s/^chart/parley/", "--directory", "deploy", "chart"];
  const file = join(out, `parley-chart-${version}.tgz`);
  run(["tar", "--create", ...same, "--use-compress-program=gzip --no-name", "--file", file, ...names]);
}

/** Writes a list of the components of each package, and of the server, in CycloneDX. */
function listComponents(out: string): void {
  say("Listing the components");
  const filters = [...packages, "@parley/server"].flatMap((name) => ["--filter", name]);
  const format = ["--sbom-format", "cyclonedx", "--prod", "--split", "--out", join(out, "%s.cdx.json")];
  run([...pnpm, ...filters, "sbom", ...format]);
  const files = readdirSync(out).filter((name) => name.endsWith(".cdx.json"));
  for (const file of files.map((name) => join(out, name)))
    writeFileSync(file, withoutChance(readFileSync(file, "utf8")));
}

/** The parts of a list in CycloneDX that differ from run to run. */
interface ComponentList {
  readonly serialNumber?: string;
  readonly metadata: object;
  readonly components: readonly { readonly "bom-ref": string }[];
}

/** Returns the list without a random number, with the time of the commit, and in order, so that a commit gives the same file. */
function withoutChance(text: string): string {
  const { serialNumber: _random, metadata, components, ...rest } = JSON.parse(text) as ComponentList; // pnpm's own
  const timestamp = new Date(run(["git", "show", "--no-patch", "--format=%cI", "HEAD"]).trim()).toISOString();
  const sorted = components.toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  return `${JSON.stringify({ ...rest, metadata: { ...metadata, timestamp }, components: sorted }, undefined, 2)}\n`;
}

/** Builds the images, and saves each as an archive, which `docker load` reads. */
function buildImages(out: string): void {
  for (const [index, image] of releasedImages.entries()) {
    say(`Building ${image.tag}, image ${index + 1} of ${releasedImages.length}`);
    const started = performance.now();
    buildImage(image);
    const archive = join(out, `${image.tag.replace("/", "-")}.tar`);
    docker("save", "--output", archive, image.tag);
    run(["gzip", "--no-name", archive]);
    say(`Built ${image.tag} in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
}

/** Writes the change of the contract since the last release, for the changelog. */
function describeContract(out: string): void {
  const { stdout } = spawnSync(process.execPath, ["ci/contract-diff/main.ts"], { cwd: root, encoding: "utf8" });
  writeFileSync(join(out, "contract-changes.txt"), stdout);
}

const sha256 = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
const checksums = "checksums.txt";

/** Writes the checksums of all files. They are the only thing that is signed. @returns a line for each file */
function addUp(out: string): readonly string[] {
  const names = readdirSync(out).toSorted();
  writeFileSync(join(out, checksums), names.map((name) => `${sha256(join(out, name))}  ${name}\n`).join(""));
  return names.map((name) => `${size(statSync(join(out, name)).size).padStart(9)}  ${name}`);
}

const size = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * Signs a file without a network. cosign 2 and 3 can verify the signature. cosign asks for the password of the key unless
 * `COSIGN_PASSWORD` has it.
 */
function sign(file: string, key: string): void {
  const form = ["--tlog-upload=false", "--new-bundle-format=false", "--use-signing-config=false"];
  const args = ["sign-blob", "--yes", ...form, "--key", key, "--output-signature", `${file}.sig`, file];
  execFileSync("cosign", args, { cwd: root, stdio: ["inherit", "ignore", "inherit"] });
}

/** Signs an empty file, because a wrong password would otherwise end the release after all of its work. */
function trySigning(folder: string, key: string): void {
  const file = join(folder, "tried");
  writeFileSync(file, "");
  try {
    sign(file, key);
  } catch {
    throw new Error(
      `cosign cannot sign with ${key}, see above. It asks for the password before the work and at its end, or takes it from COSIGN_PASSWORD.`,
    );
  }
  for (const name of [file, `${file}.sig`]) rmSync(name);
}

/** Refuses what would end the release later. `--dirty` is for a trial, which needs no version and no date. */
function checkBefore({ out, images: withImages, sign: key, dirty }: Flags): void {
  const folder = resolve(root, out);
  const missing = findMissing({ withImages, key });
  if (missing.length > 0) throw new Error(missing.join("\n"));
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, checksums)))
    throw new Error(`${folder} would be replaced, and is not a release: name another folder, or remove it.`);
  const faults = findFaults();
  if (faults.length === 0 || dirty) return;
  for (const fault of faults) say(fault);
  throw new Error("Nothing was made. --dirty makes the files all the same.");
}

/** Makes a release. Its folder appears when it is whole: until then, the files are in a folder beside it. */
function release(flags: Flags): void {
  checkBefore(flags);
  const { out, images: withImages, sign: key } = flags;
  const folder = resolve(root, out);
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  if (key !== undefined) trySigning(part, key);
  pack(part);
  packChart(part);
  listComponents(part);
  describeContract(part);
  if (withImages) buildImages(part);
  const lines = addUp(part);
  if (key !== undefined) sign(join(part, checksums), key);
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!withImages) say("Left out the images: --no-images.");
  say(
    `The files are in ${folder}${key === undefined ? ", unsigned" : `, and ${checksums}.sig signs ${checksums}`}. Nothing was published.`,
  );
}

async function version({ date }: { readonly date: string }): Promise<void> {
  const made = await writeVersion(root, date, findChanges());
  say(`This is version ${made} of ${date}. Run "generate", read CHANGELOG.md, and commit.`);
}

/** Prints a line for each image, and the paths that differ in it, with a folder of many such files as one line. */
function compare(names: readonly string[]): void {
  if (!has("docker", "version")) throw new Error("No Docker engine answers.");
  for (const image of releasedImages.filter(({ tag }) => names.length === 0 || names.includes(tag))) {
    const { seconds, bytes, compressedBytes, files, differing } = compareBuilds(image, () => performance.now());
    const built = seconds.map((one) => `${one.toFixed(0)} s`).join(" and ");
    const sizes = `${size(bytes)} unpacked, ${size(compressedBytes)} compressed`;
    process.stdout.write(`${image.tag}: built in ${built}, ${sizes}, ${files} files, ${differing.length} differ\n`);
    const counts = Map.groupBy(differing, (path) => path.split("/").slice(0, 5).join("/"));
    for (const [path, { length }] of counts) process.stdout.write(`  ${path}${length > 1 ? ` (${length})` : ""}\n`);
  }
}

const command = new ReportCommand("release")
  .description(
    "Makes everything that a release publishes, in a folder: packages, the chart, images, lists of components " +
      "(CycloneDX), the change of the contract, and checksums. Publishes nothing.",
  )
  .option("--out <folder>", "folder to write, which is replaced", ".parley/release")
  .option("--no-images", "without the images")
  .option("--sign <key>", "sign the checksums with this private key of cosign")
  .option("--dirty", "also from a tree that is not fit for a release")
  .action(release);

command
  .command("version")
  .description(
    "Makes the next version of the packages from the notes in .changeset, and writes its section of CHANGELOG.md from " +
      "these notes and the changes of the contract since the last release.",
  )
  .requiredOption("--date <date>", "date of the release, such as 2026-12-01")
  .action(version);

command
  .command("compare-builds")
  .description(
    "Builds each image twice without a cache, and names the files that differ, with sizes and times. Needs Docker.",
  )
  .argument("[images...]", "some of the images, such as parley/server")
  .action(compare);

try {
  await command.parseAsync();
} catch (error) {
  command.error(error instanceof Error ? error.message : String(error));
}
