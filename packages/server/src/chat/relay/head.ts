import { newId } from "../../http/new-id.ts";

/** The fields that every chunk of an answer repeats. */
export interface ChunkHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/** Returns the head of a new answer, with a unique id. `created` is the Unix time in seconds. */
export const newHead = (model: string, systemFingerprint: string, nowMs: number): ChunkHead => ({
  id: newId("chatcmpl-", 32),
  created: Math.floor(nowMs / 1000),
  model,
  system_fingerprint: systemFingerprint,
});
