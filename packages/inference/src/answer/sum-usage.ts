import type { EngineUsage } from "../engine.ts";

/**
 * Adds up the counters of all choices of a request. The choices share one prompt, so its tokens count once.
 * @returns the usage of the request, given the latest counters of one choice
 */
export function sumUsage(n: number): (choice: number, counted: EngineUsage) => EngineUsage {
  if (n === 1) return (_choice, counted) => counted;
  const nothing: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const latest = Array.from({ length: n }, () => nothing);
  return (choice, counted) => {
    latest[choice] = counted;
    const sum = (name: keyof EngineUsage): number => latest.reduce((total, one) => total + one[name], 0);
    return {
      promptTokens: counted.promptTokens,
      cachedTokens: latest[0]?.cachedTokens ?? 0,
      completionTokens: sum("completionTokens"),
      reasoningTokens: sum("reasoningTokens"),
    };
  };
}
