import { LlamaGrammar } from "node-llama-cpp";
import { openLlama } from "../src/embedded/child/open-llama.ts";

/** Whether llama.cpp itself would let a model write exactly this text. */
export type Accepts = (text: string) => boolean;

/** The judge of grammars is the one who enforces them. */
export async function openJudge(): Promise<(grammar: string) => Accepts> {
  const llama = await openLlama(1);
  return (grammar) => {
    const compiled = new LlamaGrammar(llama, { grammar });
    // The method is declared internal, and meant for tests.
    const judge = compiled as unknown as { _testText(text: string): boolean };
    return (text) => judge._testText(text);
  };
}
