import { LlamaGrammar } from "node-llama-cpp";
import { openLlama } from "./open-llama.ts";

/** Checks if llama.cpp would let a model write exactly this text. */
export type Accepts = (text: string) => boolean;

/** Grammars are tested with llama.cpp itself, because it enforces them in production. */
export async function openGrammarMatcher(): Promise<(grammar: string) => Accepts> {
  const llama = await openLlama();
  return (grammar) => {
    const compiled = new LlamaGrammar(llama, { grammar });
    // The method is declared internal, and meant for tests.
    const matcher = compiled as unknown as { _testText(text: string): boolean };
    return (text) => matcher._testText(text);
  };
}
