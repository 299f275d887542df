import type { ApiKey, ParleyOptions } from "./options.ts";

/** Where the service is and what opens it. */
export interface Connection {
  readonly baseURL: string;
  readonly apiKey: ApiKey;
}

/**
 * The options, or `PARLEY_URL` and `PARLEY_KEY` in their place. No message repeats a value: it may be the key.
 * @throws {TypeError} when one is missing or cannot work, or a key would be shown to whoever opens a page
 */
export function readConnection({ baseURL, apiKey, dangerouslyAllowBrowser }: ParleyOptions): Connection {
  const url = baseURL ?? readEnvironment("PARLEY_URL");
  if (!url) {
    throw new TypeError('There is no baseURL: write baseURL: "https://api.example.com/v1", or set PARLEY_URL.');
  }
  assertNoQuotes(baseURL === undefined ? "PARLEY_URL" : "baseURL", url);
  if (!/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(url)) {
    throw new TypeError(
      `${baseURL === undefined ? "PARLEY_URL" : "baseURL"} begins with https:// or http:// and names a host, ` +
        'without user, query and fragment. Write it like "https://api.example.com/v1".',
    );
  }
  const key = apiKey ?? readEnvironment("PARLEY_KEY");
  if (!key) throw new TypeError("There is no key: write apiKey: process.env.MY_KEY, or set PARLEY_KEY.");
  assertNoQuotes(apiKey === undefined ? "PARLEY_KEY" : "apiKey", key);
  if (dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new TypeError(
      "Whoever opens this page can read the key: ask a server of your own, and let that one ask Parley. " +
        "If this key may be read, write dangerouslyAllowBrowser: true.",
    );
  }
  return { baseURL: url, apiKey: key };
}

/** Refuses a value that still has the quotation marks of a file of variables. */
function assertNoQuotes(name: string, value: ApiKey): void {
  if (typeof value === "string" && /^(["']).*\1$/.test(value))
    throw new TypeError(`${name} has quotation marks around its value: leave them out.`);
}

/** What is asked of the runtime and exists in some only. */
interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string };
}
const runtime = globalThis as Runtime;

const readEnvironment = (name: string): string | undefined => runtime.process?.env?.[name]?.trim();

/** A page, or a worker of one. Node, Bun, Deno and edge workers name themselves in `userAgent`. */
const isBrowser = (): boolean =>
  runtime.document !== undefined || (runtime.navigator?.userAgent ?? "").startsWith("Mozilla/");
