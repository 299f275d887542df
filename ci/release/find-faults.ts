import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { packageFolders, readManifest } from "../manifests.ts";
import { root } from "../root.ts";

const manifests = ["", ...packageFolders(root).map((folder) => `${folder}/`)];

const chart = "deploy/chart/Chart.yaml";

/** Returns both versions of the chart: its own, and that of the server that it installs. */
function versionsOfChart(): (readonly [string, string])[] {
  const { version, appVersion } = parse(readFileSync(join(root, chart), "utf8")) as Readonly<Record<string, string>>; // our own file
  return [
    [chart, version ?? ""],
    [`appVersion of ${chart}`, appVersion ?? ""],
  ];
}

/** Tells whether a program of the machine runs and succeeds. */
export const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

/** Finds the programs that a release needs and this machine lacks, and a key that is not there. @returns a sentence for each */
export function findMissing({
  withImages,
  key,
}: {
  readonly withImages: boolean;
  readonly key: string | undefined;
}): string[] {
  const isGnu = String(spawnSync("tar", ["--version"]).stdout).includes("GNU tar");
  return [
    ...(has("git", "--version") ? [] : ["git is not on the PATH."]),
    ...(isGnu && has("gzip", "--version")
      ? []
      : ["The chart is packed by GNU tar and gzip. The PATH lacks one of them."]),
    ...(!withImages || has("docker", "version")
      ? []
      : ["No Docker engine answers. Start one, or leave the images out with --no-images."]),
    ...(key === undefined || has("cosign", "version") ? [] : ["--sign needs cosign 2.6 or newer on the PATH."]),
    ...(key === undefined || existsSync(key) ? [] : [`There is no key ${key}. "cosign generate-key-pair" makes one.`]),
  ];
}

/** Finds the reasons why this tree cannot be released. @returns a sentence for each */
export function findFaults(): string[] {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
  return [
    ...(changed === "" ? [] : [`The tree has changes that are not committed:\n${changed}`]),
    ...faultsOfVersions(
      [
        ...manifests.map((folder) => [`${folder}package.json`, readManifest(join(root, folder)).version] as const),
        ...versionsOfChart(),
      ],
      readFileSync(join(root, "CHANGELOG.md"), "utf8"),
    ),
  ];
}

/**
 * Compares the versions of the packages with each other and with the first heading of the changelog, which is
 * `## 1.2.3 (2026-11-27)`.
 */
export function faultsOfVersions(
  versions: readonly (readonly [file: string, version: string])[],
  changelog: string,
): string[] {
  const [, wanted = ""] = versions[0] ?? [];
  const others = versions.filter(([, version]) => version !== wanted);
  const [, heading = "", date] = /^## (\S+) \(([^)]*)\)$/m.exec(changelog) ?? [];
  return [
    ...others.map(([file, version]) => `${file} has version ${version}, and package.json has ${wanted}.`),
    ...(heading === wanted
      ? []
      : [`CHANGELOG.md begins with ${heading || "no version"}, and package.json has ${wanted}.`]),
    ...(date !== undefined && !/^\d{4}-\d\d-\d\d$/.test(date)
      ? [`CHANGELOG.md says "${date}" for ${heading}: write the date of the release.`]
      : []),
  ];
}
