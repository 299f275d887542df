import { execFileSync } from "node:child_process";
import { buildImage, docker } from "./images.ts";
import type { ReleasedImage } from "./images.ts";

/** The files of an image: a line for each, with its rights, owner, and the target or the checksum of its content. */
export type FileList = ReadonlyMap<string, string>;

/** Two builds of an image without a cache. */
export interface ComparedBuilds {
  readonly seconds: readonly number[];
  /** Bytes of all layers, unpacked and as a registry keeps them. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly files: number;
  /** The paths of the files that differ, sorted. */
  readonly differing: readonly string[];
}

/** Builds an image twice without a cache, and compares its files. @param nowMs of a clock */
export function compareBuilds(image: ReleasedImage, nowMs: () => number): ComparedBuilds {
  const builds = ["first", "second"].map((name) => {
    const started = nowMs();
    const tag = `${image.tag}:${name}`;
    buildImage({ ...image, tag }, "--no-cache");
    return { tag, seconds: (nowMs() - started) / 1000 };
  });
  const [first, second] = builds.map(({ tag }) => listFiles(tag));
  const tag = builds[0]?.tag ?? "";
  return {
    seconds: builds.map(({ seconds }) => seconds),
    bytes: Number(docker("image", "inspect", "--format", "{{.Size}}", tag)),
    compressedBytes: Number(execFileSync("sh", ["-c", `docker save ${tag} | gzip | wc -c`], { encoding: "utf8" })),
    files: first?.size ?? 0,
    differing: differingPaths(first ?? new Map(), second ?? new Map()),
  };
}

const differingPaths = (first: FileList, second: FileList): string[] =>
  [...new Set([...first.keys(), ...second.keys()])].filter((path) => first.get(path) !== second.get(path)).toSorted();

/** Lists everything but the folders of the kernel. The names end with NUL, because a name may contain a line end. */
const list = String.raw`set -e
everything() { find / -xdev \( -path /proc -o -path /sys -o -path /dev \) -prune -o "$@"; }
everything -printf '%p\t%y %m %U:%G %l\0'
everything -type f -exec sha256sum --zero {} +`;

function listFiles(tag: string): FileList {
  const given = ["--rm", "--network", "none", "--hostname", "image", "--user", "root", "--entrypoint", "sh"];
  const files = new Map<string, string>();
  for (const line of docker("run", ...given, tag, "-c", list).split("\0")) {
    const [path = "", about] = line.split("\t");
    if (about !== undefined) files.set(path, about);
    else if (line !== "") files.set(line.slice(66), `${files.get(line.slice(66))} ${line.slice(0, 64)}`);
  }
  return files;
}
