/** Where the bundle and its manifest lie. */
export declare const bundleFolder: string;
export declare const manifestFile: string;

/** What the manifest says. */
export interface Manifest {
  /** The names of its files. The first one is run. */
  readonly parts: readonly string[];
  /** When writing began. A source that was changed in this second, or later, may differ from what was read. */
  readonly writtenSeconds: number;
  /** The path of each source from the folder of the bundle, when it was changed, and its bytes. */
  readonly sources: readonly (readonly [path: string, seconds: number, bytes: number])[];
}

/**
 * @returns the path of the file to run. It is undefined if there is no whole bundle, or if one of its sources has changed since. Then the
 * sources are run.
 */
export declare function freshBundle(): string | undefined;

/** Rounds a time down to seconds, because the layers of container images keep no more of the time when a file was changed. */
export declare function secondsOf(ms: number): number;
