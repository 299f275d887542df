import type { Command } from "./command.ts";

/** The containers of the pipeline, and the replacement for each of them on a host. The only file with digests. */

const pins = {
  node: "node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6",
  python: "python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b",
  trivy: "aquasec/trivy:0.73.0@sha256:7cced7cae583819fc7806d4cbc0dbbc7cad18b99f7d3e235192e6da8c091045c",
} as const;

export type PinName = keyof typeof pins;

/** @returns the pinned image, or the one that a variable such as `PARLEY_IMAGE_NODE` names, for registries with other images */
export const pinOf = (name: PinName): string => process.env[`PARLEY_IMAGE_${name.toUpperCase()}`] ?? pins[name];

/** The replacement for a container on a host. */
export interface Host {
  /** Programs that the host must have. Each row lists alternative names, of which one is enough. */
  readonly programs: readonly (readonly string[])[];
  /** Installs or finds further requirements. It ends with `didNotRun` and a reason if the host cannot have them. */
  readonly setUp?: Command;
  /** Folder of the programs that `setUp` installs. */
  readonly path?: string;
}

export interface Image {
  readonly pin: PinName;
  /** A Dockerfile that starts from the pin, which it takes as the build argument `BASE`. */
  readonly dockerfile?: { readonly context: string; readonly file: string };
  /** Packages of Debian, installed on top of the pin. */
  readonly debian?: readonly string[];
  /** Size of `/dev/shm` in bytes, if a container's 64 MiB are too few. */
  readonly sharedMemoryBytes?: number;
  /** True if the packages of the lock file are installed in it. */
  readonly hasWorkspace: boolean;
  readonly host: Host;
}

const debian = ["ca-certificates", "curl", "git", "procps", "python3-venv"];

/** PostgreSQL, its pooler, and Debian's replacement for Valkey. */
const stores = ["pgbouncer", "postgresql", "redis-server"];

export const images = {
  // A host without the stores skips the tests that need them, and runs the others.
  node: { pin: "node", debian: [...debian, ...stores], hasWorkspace: true, host: { programs: [["git"]] } },
  /** For steps that are nothing without the stores. */
  stores: {
    pin: "node",
    debian: [...debian, ...stores],
    hasWorkspace: true,
    host: { programs: [["git"], ["pg_ctlcluster", "initdb"], ["valkey-server", "redis-server"]] },
  },
  python: { pin: "node", debian, hasWorkspace: true, host: { programs: [["git"], ["python3"]] } },
  /** Has a C compiler. */
  c: {
    pin: "node",
    debian: [...debian, "gcc", "libc6-dev", "nginx-light"],
    hasWorkspace: true,
    host: { programs: [["git"], ["cc"]] },
  },
  vllm: {
    pin: "node",
    debian: [...debian, "libnuma1"],
    // Its processes exchange 160 MiB for each engine.
    sharedMemoryBytes: 2 ** 31,
    hasWorkspace: true,
    host: { programs: [["git"], ["python3"]] },
  },
  browser: {
    pin: "node",
    debian: [...debian, "chromium"],
    hasWorkspace: true,
    // A host without a browser skips the tests that need one, and runs the others.
    host: { programs: [["git"]] },
  },
  /** Has the languages of the stream readers. */
  readers: {
    pin: "node",
    debian: [...debian, "golang-go", "default-jdk-headless", "libgoogle-gson-java"],
    hasWorkspace: true,
    // A host skips the languages that it lacks.
    host: { programs: [["git"]] },
  },
  /** Has Debian's languages. A tool that needs another language, or a newer version, is skipped and named. */
  partners: {
    pin: "node",
    debian: [
      ...debian,
      "composer",
      "default-jdk-headless",
      "jq",
      "maven",
      "php-cli",
      "php-curl",
      "php-guzzlehttp-guzzle",
      "php-mbstring",
      "ruby",
      "ruby-typhoeus",
    ],
    hasWorkspace: true,
    host: { programs: [["git"]] },
  },
  schemathesis: {
    pin: "python",
    dockerfile: { context: "fuzz", file: "Dockerfile" },
    hasWorkspace: false,
    host: { programs: [["python3"]], setUp: ["node", "fuzz/install.ts"], path: ".parley/fuzz/bin" },
  },
  /** The image that the project delivers. */
  server: {
    pin: "node",
    dockerfile: { context: ".", file: "deploy/server.Dockerfile" },
    hasWorkspace: false,
    host: { programs: [["docker"]], setUp: ["node", "ci/host/find-docker.ts"] },
  },
  trivy: { pin: "trivy", hasWorkspace: false, host: { programs: [["trivy"]] } },
} as const satisfies Readonly<Record<string, Image>>;

export type ImageName = keyof typeof images;

export const imageOf = (name: ImageName): Image => images[name];
