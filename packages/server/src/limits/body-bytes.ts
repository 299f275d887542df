/** Maximum number of body bytes in memory that are being read or validated. */
export interface BodyBounds {
  readonly ofKey: number;
  readonly ofAll: number;
}

/** Counts the bytes of bodies that are being read or validated, per key and in total. */
export class BodyBytes {
  readonly #bounds: BodyBounds;
  readonly #ofKeys = new Map<string, number>();
  #ofAll = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** @returns a function that releases the bytes (later calls do nothing), or the name of the bound that is exceeded */
  take(keyId: string, bytes: number): (() => void) | keyof BodyBounds {
    if (this.#of(keyId) + bytes > this.#bounds.ofKey) return "ofKey";
    if (this.#ofAll + bytes > this.#bounds.ofAll) return "ofAll";
    this.#add(keyId, bytes);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(keyId, -bytes);
      isTaken = false;
    };
  }

  #of(keyId: string): number {
    return this.#ofKeys.get(keyId) ?? 0;
  }

  #add(keyId: string, bytes: number): void {
    this.#ofAll += bytes;
    const left = this.#of(keyId) + bytes;
    if (left === 0) this.#ofKeys.delete(keyId);
    else this.#ofKeys.set(keyId, left);
  }
}
