import type { AnswerDelta } from "../answer/answer-parser.ts";
import type { EngineUsage, FinishReason } from "../engine.ts";

/** What one choice says as it goes; the counters are its own. */
export type ChoiceDelta = (
  | AnswerDelta
  | { readonly kind: "role" }
  | { readonly kind: "finish"; readonly reason: FinishReason }
) & { readonly counted: EngineUsage };
