import type { Command, SecretName } from "./command.ts";
import type { ImageName } from "./images.ts";

/** A service that runs next to a step: on a host a process on loopback, in the pipeline a container with a name. */
export interface Service {
  /** Undefined: the image's own command. */
  readonly command?: Command;
  readonly image: ImageName;
  /** The port in a container, by the variable that tells a step the URL. A host takes any free port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly secrets: readonly SecretName[];
  readonly environment: (place: Place) => Readonly<Record<string, string>>;
}

export interface Place {
  /** Address to listen on. */
  readonly host: string;
  /** An empty folder that is deleted afterwards. */
  readonly folder: string;
  /** Returns the port for a variable of `ports`. */
  readonly portOf: (variable: string) => number;
}

/** A server with limits and keys for the fuzzer. It describes them at `FUZZ_TARGET`. */
const fuzzTarget = (name: string): Service => ({
  command: ["node", "fuzz/serve.ts", name],
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
  /** The server as `start` starts it, with default settings except for its addresses and those in the file, which gives reasons. */
  server: {
    command: ["deploy/parley", "start", "--config", "ci/judged-server.yaml"],
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
  "fuzz-admin": fuzzTarget("admin"),
  /** The delivered image with its own command. */
  "server-image": {
    image: "server",
    ports: { PARLEY_URL: 8080 },
    secrets: ["PARLEY_API_KEY"],
    environment: () => ({}),
  },
} as const satisfies Readonly<Record<string, Service>>;

export type ServiceName = keyof typeof services;

export const serviceOf = (name: ServiceName): Service => services[name];
