/** The error of an answer. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly type: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** Returns the error of an answer. @throws {Error} when the request was accepted */
export async function toRefusal(response: Response): Promise<Refusal> {
  if (response.ok) throw new Error(`the request was accepted: ${await response.text()}`);
  const { error } = (await response.json()) as { error: Omit<Refusal, "status" | "headers"> }; // checked against the contract already
  return { ...error, status: response.status, headers: response.headers };
}
