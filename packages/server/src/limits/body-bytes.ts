/** The most bytes of bodies that are read or checked at the same time. */
export interface BodyBounds {
  readonly ofKey: number;
  readonly ofAll: number;
}

/** Counts the bytes of bodies that are being read or checked, of each key and of all together. */
export class BodyBytes {
  readonly #bounds: BodyBounds;
  readonly #ofKeys = new Map<string, number>();
  #ofAll = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** @returns what gives the bytes back, once; or whose bound is in the way */
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
