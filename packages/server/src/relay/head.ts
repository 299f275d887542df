import { randomBytes } from "node:crypto";
import type { ChunkHead } from "./to-chunks.ts";

/** What names an answer: an id that is never used again, and the second in which it began. */
export const newHead = (model: string, systemFingerprint: string, nowMs: number): ChunkHead => ({
  id: `chatcmpl-${randomBytes(16).toString("hex")}`,
  created: Math.floor(nowMs / 1000),
  model,
  system_fingerprint: systemFingerprint,
});
