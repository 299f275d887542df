/** The service cannot be judged: the message is one sentence with the fault and the remedy. */
export class PreflightError extends Error {
  override readonly name = "PreflightError";
}
