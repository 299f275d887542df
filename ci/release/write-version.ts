import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readChangesets } from "@changesets/read";
import type { ContractChanges } from "../contract-diff/find-changes.ts";
import { root } from "../root.ts";
import { faultsOfNotes, sectionOf, withVersion } from "./changelog.ts";

const bin = join(root, "node_modules/.bin");

/**
 * Makes the next version of a workspace: Changesets raises the versions of the packages and deletes its notes, the root
 * and the chart get the same version, and the changelog a section with the notes and the changes of the contract. Where
 * there are no notes, the section called `unreleased` is released with the version that it has.
 * @param date of the release, such as 2026-12-01
 * @returns the version
 * @throws {Error} with a sentence for each reason why there is no next version
 */
export async function writeVersion(workspace: string, date: string, contract: ContractChanges): Promise<string> {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new Error(`"${date}" is not a date such as 2026-12-01.`);
  const [changelogFile, manifestFile] = [join(workspace, "CHANGELOG.md"), join(workspace, "package.json")];
  const changelog = readFileSync(changelogFile, "utf8");
  const notes = await readChangesets(workspace);
  const faults = faultsOfNotes(notes, contract, changelog);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  if (notes.length > 0) execFileSync(join(bin, "changeset"), ["version"], { cwd: workspace, stdio: "ignore" });
  const version = versionIn(join(workspace, "packages/client/package.json"));
  const manifest = readFileSync(manifestFile, "utf8");
  writeFileSync(manifestFile, manifest.replace(/"version": "[^"]*"/, `"version": "${version}"`));
  const chartFile = join(workspace, "deploy/chart/Chart.yaml");
  const chart = readFileSync(chartFile, "utf8");
  writeFileSync(chartFile, chart.replaceAll(/(?<=^(?:version|appVersion): ).*$/gm, version));
  writeFileSync(changelogFile, withVersion(changelog, version, date, sectionOf(notes, contract)));
  execFileSync(join(bin, "oxfmt"), [changelogFile], { cwd: root, stdio: "ignore" });
  return version;
}

const versionIn = (file: string): string =>
  (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version; // a manifest of the workspace
