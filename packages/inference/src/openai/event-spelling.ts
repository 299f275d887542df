/**
 * A pattern of the most common event of a stream, exactly as vLLM writes it: one choice that has not finished, and optionally the usage so
 * far. Matching it takes a fifth of the time of `JSON.parse`. Its last two groups are the numbers of prompt and completion tokens.
 * @param object the event's member `object`, as a pattern
 * @param members a pattern of the members of the choice behind `index`. It may have groups of its own.
 */
export function eventSpelling(object: string, members: string): RegExp {
  const head = String.raw`"id":"[^"\\]*","object":"${object}","created":\d+,"model":"[^"\\]*"`;
  const choice = String.raw`\{"index":0,${members}\}`;
  const counters = String.raw`"prompt_tokens":(\d+),"total_tokens":\d+,"completion_tokens":(\d+)(?:,"\w+":null)*`;
  return new RegExp(String.raw`^\{${head},"choices":\[${choice}\](?:,"usage":\{${counters}\})?\}$`);
}

/** The member `usage` of an event, from the last two groups of its pattern; nothing where the event has none. */
export const countersOf = (
  prompt: string | undefined,
  completion: string | undefined,
): { readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } } =>
  prompt === undefined ? {} : { usage: { prompt_tokens: Number(prompt), completion_tokens: Number(completion) } };
