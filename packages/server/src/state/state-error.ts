/** The data folder cannot be used. The message says why, and what to do. */
export class StateError extends Error {
  override readonly name = "StateError";
}
