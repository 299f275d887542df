/**
 * The most common event of a stream, as vLLM spells it: one choice that goes on, and perhaps the counters so far. Reading an event by
 * its spelling takes a fifth of the time of parsing it. The last two groups are the tokens of the prompt and of the answer.
 * @param object the kind of the event @param members of the choice, between its index and its finish reason, with groups of their own
 */
export function eventSpelling(object: string, members: string): RegExp {
  const head = String.raw`"id":"[^"\\]*","object":"${object}","created":\d+,"model":"[^"\\]*"`;
  const choice = String.raw`\{"index":0,${members}\}`;
  const counters = String.raw`"prompt_tokens":(\d+),"total_tokens":\d+,"completion_tokens":(\d+)(?:,"\w+":null)*`;
  return new RegExp(String.raw`^\{${head},"choices":\[${choice}\](?:,"usage":\{${counters}\})?\}$`);
}

/** What those counters say. */
export const countersOf = (
  prompt: string | undefined,
  completion: string | undefined,
): { readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } } =>
  prompt === undefined ? {} : { usage: { prompt_tokens: Number(prompt), completion_tokens: Number(completion) } };
