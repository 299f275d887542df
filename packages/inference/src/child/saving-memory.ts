/**
 * Flags of Node for the process of an engine. By default it keeps up to 200 MB for young objects, of which an engine makes few,
 * and lets garbage grow to three times what is in use.
 */
export const savingMemory = ["--max-semi-space-size=1", "--heap-growing-percent=100"];
