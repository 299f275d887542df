import { readProfile } from "../../src/cli/profile-flags.ts";
import { PreflightError } from "../../src/preflight/preflight-error.ts";
import { preflight } from "../../src/preflight/preflight.ts";
import { checksFor, stepsFor } from "../../src/run/plan.ts";

export interface PreflightFlags {
  readonly key?: string;
  readonly model?: string;
  readonly ca?: string;
  readonly deadlineMs?: number;
}

/** Returns the sentence of the preflight, or undefined if the service can be judged. */
export async function sentenceOf(
  baseUrl: string,
  { key = "right-key-4711", model, ca, deadlineMs = 5000 }: PreflightFlags = {},
): Promise<string | undefined> {
  process.env["PREFLIGHT_KEY"] = key;
  try {
    const flags = {
      baseUrl,
      apiKeyEnv: "PREFLIGHT_KEY",
      level: [],
      header: [],
      seed: 0,
      ...(model !== undefined && { model }),
    };
    const { profile, secrets } = readProfile(flags);
    const begunMs = performance.now();
    await preflight(profile, stepsFor(checksFor(profile), profile), "PREFLIGHT_KEY", {
      origin: new URL(profile.origin),
      ca,
      secrets,
      deadlineMs,
      maxAnswerBytes: 1e6,
      now: () => performance.now() - begunMs,
      signal: new AbortController().signal,
    });
    return undefined;
  } catch (error) {
    if (error instanceof PreflightError) return error.message;
    throw error;
  } finally {
    delete process.env["PREFLIGHT_KEY"];
  }
}
