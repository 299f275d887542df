import { PreflightError } from "./preflight-error.ts";

/**
 * Reads `--base-url`, the address of the service without `/chat/completions`.
 *
 * @throws PreflightError with the correction, if nothing can be sent to it as it is written
 */
export function readBaseUrl(text: string): URL {
  const given = text.trim();
  if (given === "") throw new PreflightError("--base-url is empty: write the address, such as https://host/v1.");
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) throw new PreflightError(withoutScheme(given));
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined) throw new PreflightError(notParsed(given));
  const fault = faultOf(url);
  if (fault !== undefined) throw new PreflightError(fault);
  return url;
}

/** Returns the base URL as the suite uses it: without trailing slashes. */
const baseOf = (url: URL): string => url.origin + url.pathname.replace(/\/+$/, "");

const isLocal = (host: string): boolean => /^(localhost|127\.|0\.0\.0\.0|\[|10\.|192\.168\.)|^[^.]+(:|$)/.test(host);

function withoutScheme(given: string): string {
  const host = given.replace(/^(?:https?:\/*|https?\/\/+|\/+)/i, "");
  const scheme = isLocal(host) ? "http" : "https";
  return `--base-url ${quoted(given)} does not begin with http:// or https://: write ${scheme}://${host}.`;
}

function notParsed(given: string): string {
  const isBareAddress = /^\w+:\/\/[0-9a-f]*:[0-9a-f:]*:[0-9a-f:]*/i.test(given);
  if (isBareAddress)
    return `--base-url ${quoted(given)} has an IPv6 address without brackets: write http://[::1]:8000/v1.`;
  return `--base-url ${quoted(given)} is not a URL: write scheme, host, port and path, such as https://host:8000/v1.`;
}

function faultOf(url: URL): string | undefined {
  const base = baseOf(url);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `--base-url has the scheme ${url.protocol}//, and the suite speaks HTTP: write http:// or https://.`;
  if (url.username !== "" || url.password !== "")
    return `--base-url contains credentials: write ${base}, and put the key into the environment variable that --api-key-env names.`;
  if (url.search !== "")
    return `--base-url has a query, which cannot be part of a base URL: write ${base}, and put a key or a version into --header.`;
  if (url.hash !== "") return `--base-url has a fragment, which is never sent: write ${base}.`;
  const before = /^(.*?)\/+chat\/+completions\/*$/.exec(url.pathname)?.[1];
  if (before !== undefined)
    return `--base-url has the path of an operation: the suite adds /chat/completions, so write ${url.origin}${before}.`;
  return undefined;
}

const quoted = (text: string): string => JSON.stringify(text.replace(/\/\/[^/@]*@/, "//…@").slice(0, 80));

/**
 * Returns what is wrong with a key as text, or undefined.
 *
 * @param variable the environment variable that holds it
 */
export function faultOfKey(key: string, variable: string): string | undefined {
  const [, inner] = /^\s*bearer\s+(.*)$/i.exec(key) ?? [];
  if (inner !== undefined) return `${variable} begins with "Bearer", which the suite adds: put the key alone into it.`;
  if (/^\s|\s$/.test(key)) return `The key in ${variable} begins or ends with white space: remove it.`;
  if (/^(["']).*\1$/.test(key)) return `The key in ${variable} stands in quotes: remove them.`;
  if (!/^[\x21-\x7e]+$/.test(key))
    return `The key in ${variable} has a character that a header cannot carry: copy it again.`;
  return undefined;
}
