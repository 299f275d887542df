/** A choice as a user of an SDK sees it. */
export interface SeenChoice {
  readonly text: string | null;
  readonly reasoning?: string;
  readonly finish: string | null;
  /** Name and arguments of each call; arguments that are not JSON stay text. */
  readonly calls?: readonly (readonly [name: string, given: unknown])[];
  readonly logprobs?: Scores;
}

/** The log-probabilities of a choice, as users read them. */
export interface Scores {
  readonly tokens: string;
  /** The joined bytes as text. */
  readonly bytes: string;
  /** The probability of each token. */
  readonly probabilities: readonly number[];
  /** The alternatives of each token, joined. */
  readonly alternatives: readonly string[];
}

/** The result of a call as a user of an SDK sees it. Absent members: the SDK does not show them. */
export interface Outcome {
  readonly models?: readonly string[];
  readonly choices?: readonly SeenChoice[];
  /** Tokens of the prompt, of the completion, and their sum. */
  readonly usage?: readonly unknown[] | null;
  readonly parsed?: unknown;
  /** The class of the error, with its status if it has one. */
  readonly throws?: string;
  /** The message of the error. */
  readonly says?: string;
}

/** The class of the error of a call that does not end. */
export const hangs = "nothing: it hangs";

export function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Entry {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly top_logprobs: readonly { readonly token: string }[];
}

export const scoresOf = (entries: readonly Entry[]): Scores => ({
  tokens: entries.map(({ token }) => token).join(""),
  bytes: Buffer.from(entries.flatMap(({ bytes }) => bytes ?? [])).toString(),
  probabilities: entries.map(({ logprob }) => Number(Math.exp(logprob).toFixed(3))),
  alternatives: entries.map(({ top_logprobs: top }) => top.map(({ token }) => token).join("|")),
});

/** An error as an outcome. */
export function thrown(error: unknown): Outcome {
  if (!(error instanceof Error)) return { throws: typeof error, says: String(error) };
  const status = "status" in error ? error.status : "statusCode" in error ? error.statusCode : undefined;
  const name = error.constructor.name;
  return { throws: typeof status === "number" ? `${name} (${status})` : name, says: error.message };
}
