/** The counters of vLLM that show whether it makes progress. */
export interface VllmMetrics {
  readonly running: number;
  readonly waiting: number;
  /** Prompt and answer tokens since vLLM's start. */
  readonly tokens: number;
}

/** Reads the Prometheus text of `/metrics`; several engines behind one API are added up. */
export function readMetrics(text: string): VllmMetrics {
  const sums = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^(vllm:[a-z_]+)(?:\{[^}]*\})? (\S+)/.exec(line);
    if (match) sums.set(match[1] ?? "", (sums.get(match[1] ?? "") ?? 0) + Number(match[2]));
  }
  const sum = (name: string): number => sums.get(`vllm:${name}`) ?? 0;
  return {
    running: sum("num_requests_running"),
    waiting: sum("num_requests_waiting"),
    tokens: sum("prompt_tokens_total") + sum("generation_tokens_total"),
  };
}
