import type { Command, SecretName } from "./command.ts";
import type { ImageName } from "./images.ts";

/** What runs beside a step. On a host it is a process on loopback, in the pipeline a container with a name. */
export interface Service {
  /** Undefined: what the image runs by itself. */
  readonly command?: Command;
  readonly image: ImageName;
  /** By the variable that tells a step the URL: the port inside of a container. A host takes any free one. */
  readonly ports: Readonly<Record<string, number>>;
  readonly secrets: readonly SecretName[];
  readonly environment: (place: Place) => Readonly<Record<string, string>>;
}

export interface Place {
  /** Address to listen on. */
  readonly host: string;
  /** An empty folder that is deleted afterwards. */
  readonly folder: string;
  /** The port behind a variable of `ports`. */
  readonly portOf: (variable: string) => number;
}

/** A server whose limits and keys suit the fuzzer. It describes them at `FUZZ_TARGET`. */
const fuzzTarget = (engine: string): Service => ({
  command: ["node", "fuzz/serve.ts", engine],
  image: "node",
  ports: { PARLEY_URL: 8080, FUZZ_TARGET: 8081 },
  secrets: [],
  environment: ({ host, portOf }) => ({
    FUZZ_HOST: host,
    FUZZ_PORT: String(portOf("PARLEY_URL")),
    FUZZ_TARGET_PORT: String(portOf("FUZZ_TARGET")),
  }),
});

export const services = {
  /** What `start` starts. Every setting is its default but for its place, and what the file says with its reason. */
  server: {
    command: [
      "node",
      "--max-semi-space-size=16",
      "--heap-growing-percent=100",
      "packages/server/src/cli/main.mjs",
      "start",
      "--config",
      "ci/judged-server.yaml",
    ],
    image: "node",
    ports: { PARLEY_URL: 8080 },
    secrets: ["PARLEY_API_KEY"],
    environment: ({ host, folder, portOf }) => ({
      HOST: host,
      PORT: String(portOf("PARLEY_URL")),
      PARLEY_DATA_DIR: folder,
      PARLEY_METRICS_PORT: "off",
    }),
  },
  "fuzz-scripted": fuzzTarget("scripted"),
  "fuzz-embedded": fuzzTarget("embedded"),
  /** What the project delivers, as it runs by itself. */
  "server-image": {
    image: "server",
    ports: { PARLEY_URL: 8080 },
    secrets: ["PARLEY_API_KEY"],
    environment: () => ({}),
  },
} as const satisfies Readonly<Record<string, Service>>;

export type ServiceName = keyof typeof services;

export const serviceOf = (name: ServiceName): Service => services[name];
