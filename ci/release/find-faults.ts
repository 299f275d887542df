import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
