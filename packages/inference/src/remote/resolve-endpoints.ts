import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Resolves a host name to all of its addresses. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export const lookupAll: Lookup = (host) => lookup(host, { all: true });

/** A name with more addresses is used with the first ones in their order as texts. */
const maxAddresses = 64;

/**
 * Finds the addresses behind a base URL. The name of a headless Service has one for each of its workers, so each address is an
 * endpoint. undici would resolve the name for each connection and reuse the connection, so nobody could tell which worker
 * answers.
 *
 * A name is left to undici if it has both kinds of address and one of each, as `localhost` has: those are one server. The
 * same holds for a name behind TLS, which usually belongs to a load balancer with changing addresses. Of two kinds of address
 * the more frequent one is used, because each worker has one of each.
 * @returns undefined if the name itself is the endpoint
 * @throws if the name cannot be resolved
 */
export async function findAddresses(baseUrl: string, resolve: Lookup): Promise<readonly string[] | undefined> {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "http:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return undefined;
  const found = await resolve(hostname);
  const [v4 = [], v6 = []] = [4, 6].map((kind) => [
    ...new Set(found.filter(({ family }) => family === kind).map(({ address }) => address)),
  ]);
  if (v4.length <= 1 && v6.length <= 1 && v4.length === v6.length) return undefined;
  return (v6.length > v4.length ? v6 : v4).toSorted().slice(0, maxAddresses);
}
