/**
 * The result of one examination: its subject, and the problem in one sentence that says what to do. Empty: there is no problem.
 */
export interface Finding {
  readonly topic: string;
  readonly seen: string;
  readonly problem: string;
}

export const good = (topic: string, seen: string): Finding => ({ topic, seen, problem: "" });
export const bad = (topic: string, problem: string, seen = "-"): Finding => ({ topic, seen, problem });
