import { startScripted } from "./start-engines.ts";
import { testEngineContract } from "./engine-contract.ts";

testEngineContract({
  title: "the scripted engine",
  start: async () => {
    const started = startScripted(undefined, { contextLength: 2048, slots: 8 });
    return Object.assign(started.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
  },
  // The engine repeats the caller's text.
  talkative: (members) => ({ ...members, say: "There is a lot to tell, \u{1F980} and in many words. ".repeat(60) }),
});
