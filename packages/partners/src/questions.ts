import type { Stage } from "./results.ts";
import type { Target } from "./start-target.ts";

/** A column of the matrix that the program decides. */
export type Topic = Exclude<Stage, "generate" | "compile">;

/** A task for the program, and the output that it has to print. */
export interface Question {
  readonly topic: Topic;
  readonly args: readonly string[];
  readonly url: keyof Pick<Target, "url" | "truncatingUrl" | "growingUrl">;
  /** The expected lines. A `*` stands for any text. */
  readonly output: readonly string[];
  /** True if the program has to end with an error. */
  readonly isFailure: boolean;
}

const question = (topic: Topic, args: readonly string[], output: readonly string[], more: Partial<Question> = {}) =>
  ({ topic, args, output, url: "url", isFailure: false, ...more }) satisfies Question;

export const questions: readonly Question[] = [
  question("answer", ["models"], ["vendor/model-1", "vendor/model-1-mini"]),
  question("answer", ["answer", "script:answer"], ['tool_calls {"city":"Oslo"}', 'get_weather {"city":"Oslo"}']),
  question("error", ["error"], ["404 invalid_request_error model_not_found"]),
  question("stream", ["stream", "script:whole"], ["one", "two", "three", "stop"]),
  question("stream", ["stream", "script:broken"], ["one", "stream error: upstream_error"], { isFailure: true }),
  question(
    "stream",
    ["stream", "script:whole"],
    ["one", "two", "three", "stop", "truncated: the stream ended without [DONE]"],
    { url: "truncatingUrl", isFailure: true },
  ),
  question("growth", ["models"], ["vendor/model-1", "vendor/model-1-mini"], { url: "growingUrl" }),
  question("growth", ["answer", "script:answer"], ['* {"city":"Oslo"}', 'get_weather {"city":"Oslo"}'], {
    url: "growingUrl",
  }),
  question("growth", ["error"], ["404 * *"], { url: "growingUrl" }),
  question("growth", ["stream", "script:whole"], ["one", "two", "three", "*"], { url: "growingUrl" }),
];
