import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The manifest of a package of ours. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: { readonly ".": { readonly default: string } };
}

/** @param folder with a `package.json` */
export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest; // a package of ours

/** Returns the folders of the packages in a repository, relative to it. */
export const packageFolders = (repository: string): string[] =>
  readdirSync(join(repository, "packages")).map((name) => `packages/${name}`);

/** Returns the names of the packages that a release publishes. */
export const publishedPackages = (repository: string): string[] =>
  packageFolders(repository)
    .map((folder) => readManifest(join(repository, folder)))
    .filter((manifest) => manifest.private !== true)
    .map(({ name }) => name);
