import { ApiError } from "../../errors/api-error.ts";
import { environmentKey, isDisabled } from "./find-caller.ts";
import type { KeyStore } from "./key-store.ts";

/** Milliseconds between two checks of the keys of running requests. */
const checkEveryMs = 500;

type End = (reason: ApiError) => void;

/** Knows the running requests of each key, and ends them within a second when the key is disabled or deleted, or its group
 * is disabled. */
export class RunningKeys implements Disposable {
  readonly #store: Pick<KeyStore, "find">;
  readonly #requests = new Map<string, Set<End>>();
  readonly #timer: NodeJS.Timeout;

  constructor(store: Pick<KeyStore, "find">) {
    this.#store = store;
    this.#timer = setInterval(() => void this.#check(), checkEveryMs);
  }

  /**
   * Adds a running request of a key.
   * @param end ends the request with 401 `invalid_api_key`, in its stream where that has begun
   * @returns a function that removes the request, to be called when it has ended
   */
  add(keyId: string, end: End): () => void {
    // This key is not stored, so no command can disable it.
    if (keyId === environmentKey) return () => undefined;
    const requests = this.#requests.get(keyId) ?? new Set();
    this.#requests.set(keyId, requests.add(end));
    return () => {
      requests.delete(end);
      if (requests.size === 0) this.#requests.delete(keyId);
    };
  }

  async #check(): Promise<void> {
    await Promise.all([...this.#requests].map(([keyId, requests]) => this.#endIfRefused(keyId, requests)));
  }

  async #endIfRefused(keyId: string, requests: ReadonlySet<End>): Promise<void> {
    try {
      const key = await this.#store.find(keyId);
      if (key && !isDisabled(key)) return;
    } catch {
      // A store that cannot be reached says nothing about the key. The next check asks again.
      return;
    }
    for (const end of requests) end(new ApiError("invalid_api_key", message));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const message =
  "Incorrect API key provided: it was disabled or deleted while this request was running. Use another key.";
