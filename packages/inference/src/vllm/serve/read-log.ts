import type { StatusMessage } from "../../supervision/status.ts";

/** Lines after which every later start would fail as well, with the message for the operator. */
const fatal: readonly (readonly [pattern: RegExp, message: (match: RegExpExecArray) => string])[] = [
  [/error: unrecognized arguments: (.*)/, ([, what]) => `This version of vLLM does not know ${what}.`],
  [/error: argument (.*)/, ([, what]) => `vLLM refuses an argument: ${what}`],
  [
    /Model architectures? (\[.*?\]|\S+) (?:are|is) not supported/,
    ([, what]) => `vLLM cannot run models of the architecture ${what}.`,
  ],
  [/model type `([^`]+)` but Transformers does not/, ([, what]) => `vLLM cannot run models of the type ${what}.`],
  [/Value error, (.*)/, ([, what]) => `vLLM refuses its configuration: ${what}`],
  [/(?:SafetensorError|InvalidHeader\w*|incomplete metadata)(.*)/, ([line]) => `The weights are damaged: ${line}`],
  [
    /(size mismatch for .*|Following weights were not initialized.*)/,
    ([line]) => `The weights do not fit their configuration: ${line}`,
  ],
  [
    /(?:ValueError: )?(To serve at least one request.*|The model's max seq len .*)/,
    ([, what]) => `The memory for the key-value cache is too small: ${what}`,
  ],
];

/** Lines after which vLLM exits, although a later start may succeed. */
const failing: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/No space left on device/, "a disk that vLLM writes to is full (its cache or the folder for temporary files)"],
];

const loading: readonly (readonly [pattern: RegExp, share: number])[] = [
  [/Starting to load model/, 0.2],
  [/Loading weights took|Model loading took/, 0.6],
  [/Graph capturing|Warming up|init engine/i, 0.8],
  [/Application startup complete/, 1],
];

/** Returns the status message for a line of vLLM's log, if there is one. */
export function readLog(line: string): StatusMessage | undefined {
  for (const [pattern, message] of fatal) {
    const match = pattern.exec(line);
    if (match) return { status: "fatal", message: message(match) };
  }
  const failure = failing.find(([pattern]) => pattern.test(line));
  if (failure) return { status: "failing", message: failure[1] };
  const step = loading.find(([pattern]) => pattern.test(line));
  return step && { status: "loading", share: step[1], detail: "loading the model:" };
}
