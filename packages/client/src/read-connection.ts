import type { ApiKey, ParleyOptions } from "./options.ts";

/** The address of the service, and the key for it. */
export interface Connection {
  readonly baseURL: string;
  readonly apiKey: ApiKey;
}

/**
 * Reads address and key from the options, or else from `PARLEY_URL` and `PARLEY_KEY`. Its messages repeat no value, because
 * a value may be the key.
 * @throws {TypeError} when one is missing or invalid, or when a page would show the key to its visitors
 */
export function readConnection({ baseURL, apiKey, dangerouslyAllowBrowser }: ParleyOptions): Connection {
  const url = baseURL ?? readEnvironment("PARLEY_URL");
  if (!url) {
    throw new TypeError('There is no baseURL: write baseURL: "https://api.example.com/v1", or set PARLEY_URL.');
  }
  if (!/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(url)) {
    throw new TypeError(
      `${baseURL === undefined ? "PARLEY_URL" : "baseURL"} begins with https:// or http:// and names a host, ` +
        "without user, query and fragment.",
    );
  }
  const key = apiKey ?? readEnvironment("PARLEY_KEY");
  if (!key) throw new TypeError("There is no key: write apiKey, or set PARLEY_KEY.");
  if (dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new TypeError("Visitors can read the key: use a server, or set dangerouslyAllowBrowser: true.");
  }
  return { baseURL: url, apiKey: key };
}

/** Globals that only some runtimes have. */
interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}
const runtime = globalThis as Runtime;

const readEnvironment = (name: string): string | undefined => runtime.process?.env?.[name]?.trim();

/** Detects a page or its workers. Node, Bun, Deno and edge workers put their own name into `userAgent`. */
const isBrowser = (): boolean =>
  runtime.document !== undefined || (runtime.navigator?.userAgent ?? "").startsWith("Mozilla/");
