/** What was examined, and its problem in one sentence that says what to do; empty: there is none. */
export interface Finding {
  readonly topic: string;
  readonly seen: string;
  readonly problem: string;
}

export const good = (topic: string, seen: string): Finding => ({ topic, seen, problem: "" });
export const bad = (topic: string, problem: string, seen = "-"): Finding => ({ topic, seen, problem });
