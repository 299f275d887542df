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

interface Served {
  readonly name: string;
  readonly id: string;
  readonly engineConfig: EngineConfig;
}

/** Returns a fault for each model whose front knows another model of the file by the same name. */
export function findFrontCollisions(models: readonly Served[]): string[] {
  const owners = new Map<string, string>();
  return models.flatMap(({ name, id, engineConfig }) => {
    if (engineConfig.driver !== "remote" || (engineConfig.given.front ?? "generic") === "generic") return [];
    const { urls, given } = engineConfig;
    const asked = given.model ?? id;
    const taken = urls.flatMap((url) => {
      const key = JSON.stringify([new URL(url).href.replace(/\/+$/, "").replace(/\/v1$/, ""), asked]);
      const owner = owners.get(key);
      owners.set(key, owner ?? name);
      return owner === undefined || owner === name ? [] : [owner];
    });
    const [owner] = taken;
    return owner === undefined
      ? []
      : [`models.${name} and models.${owner} both ask the front at ${urls[0]} for ${asked}: set remote.model of one`];
  });
}
