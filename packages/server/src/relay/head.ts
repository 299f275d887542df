import { randomBytes } from "node:crypto";
import type { ChunkHead } from "./to-chunks.ts";

/** The head of an answer: a unique id, and the Unix time in seconds at which it began. */
export const newHead = (model: string, systemFingerprint: string, nowMs: number): ChunkHead => ({
  id: `chatcmpl-${randomBytes(16).toString("hex")}`,
  created: Math.floor(nowMs / 1000),
  model,
  system_fingerprint: systemFingerprint,
});
