/** Where the bundle and its manifest lie. */
export declare const bundleFolder: string;
export declare const manifestFile: string;

/** What the manifest says. */
export interface Manifest {
  /** The file to run, in the folder of the bundle. */
  readonly entry: string;
  /** When it began to be written. A source that was changed in this second or later may have changed once more after it was read. */
  readonly writtenSeconds: number;
  /** The path of each source from the folder of the bundle, when it was changed, and its bytes. */
  readonly sources: readonly (readonly [path: string, seconds: number, bytes: number])[];
}

/**
 * @returns the path of the bundle's entry; undefined if there is no bundle, or if one of its sources has changed since. Then the sources
 * themselves are run.
 */
export declare function freshBundle(): string | undefined;

/** Layers of container images keep whole seconds of the time when a file was changed. */
export declare function secondsOf(ms: number): number;
