/**
 * Node flags for an engine process. By default, Node reserves up to 200 MB for young objects, of which an engine makes few,
 * and lets garbage grow to three times the memory in use.
 */
export const savingMemory = ["--max-semi-space-size=1", "--heap-growing-percent=100"];
