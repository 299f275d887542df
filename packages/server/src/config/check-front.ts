import { fronts } from "@parley/inference/fronts";
import type { EngineConfig } from "./read-engine.ts";
import type { RemoteSettings } from "./remote-settings.ts";

/** Headers that describe one connection or one body. A proxy or our own client sets them. */
const ofConnection: readonly string[] =
  "connection content-encoding content-length content-type expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(
    " ",
  );

/** Headers with another meaning, which a session id must not replace. */
const ofOthers = ["accept", "accept-encoding", "authorization", "cookie", "traceparent", "tracestate", "user-agent"];

/**
 * Checks the names of the headers for an upstream.
 * @param place the path of its settings in the file
 * @returns a sentence for each fault
 */
export function findHeaderFaults({ headers = {}, session_header, front }: RemoteSettings, place: string): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const forbidden = names.filter((name) => ofConnection.includes(name));
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  const faults = [
    ...forbidden.map((name) => `${place}.headers must not set ${name}: it belongs to the connection`),
    ...repeated.map((name) => `${place}.headers names ${name} twice`),
  ];
  const session = session_header?.toLowerCase();
  if (session === undefined) return faults;
  const ours = Object.keys(fronts[front ?? "generic"].headers);
  if ([...ofConnection, ...ofOthers, "x-request-id", ...ours].includes(session)) {
    faults.push(`${place}.session_header must not be ${session}: that header has another meaning`);
  } else if (names.includes(session)) {
    faults.push(`${place}.session_header and ${place}.headers both set ${session}: remove one of them`);
  }
  return faults;
}

/** Returns the address of a base URL in one spelling, without credentials. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/**
 * Checks the base URLs of an upstream.
 * @param place the path of its settings in the file
 * @returns a sentence for each fault
 */
export function findUrlFaults(urls: readonly string[], place: string): string[] {
  const addresses = urls.map(addressOf);
  const repeated = new Set(addresses.filter((address, index) => addresses.indexOf(address) !== index));
  const secret = urls.map((url) => new URL(url)).filter(({ username, password }) => username !== "" || password !== "");
  return [
    ...Array.from(repeated, (address) => `${place}.urls names ${address} twice`),
    ...secret.map(
      ({ host }) =>
        `${place}.urls must not hold a user or a password for ${host}: set api_key_env, api_key_file or headers`,
    ),
  ];
}

interface Served {
  readonly name: string;
  readonly id: string;
  readonly engineConfig: EngineConfig;
}

/** Returns a fault for each model whose front knows another model of the file by the same name. */
export function findFrontCollisions(models: readonly Served[]): string[] {
  const owners = new Map<string, { readonly name: string; readonly isFront: boolean }>();
  return models.flatMap(({ name, id, engineConfig }) => {
    if (engineConfig.driver !== "remote") return [];
    const { urls, given } = engineConfig;
    const asked = given.model ?? id;
    const isFront = (given.front ?? "generic") !== "generic";
    const faults = urls.map(addressOf).flatMap((address) => {
      const key = JSON.stringify([address, asked]);
      const owner = owners.get(key) ?? { name, isFront };
      owners.set(key, owner);
      if (owner.name === name || !(isFront || owner.isFront)) return [];
      const both = `models.${name} and models.${owner.name}`;
      return [`${both} both ask the front at ${address} for ${asked}: set remote.model of one`];
    });
    return faults.slice(0, 1);
  });
}
