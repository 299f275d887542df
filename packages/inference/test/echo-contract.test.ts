import { testEngineContract } from "./engine-contract.ts";
import { startEcho } from "./start-engines.ts";

testEngineContract({
  title: "the echo engine",
  start: async () => {
    const started = startEcho();
    return Object.assign(started.engine, { [Symbol.asyncDispose]: started[Symbol.asyncDispose] });
  },
  talkative: (members) => ({ ...members, say: "There is a lot to tell, \u{1F980} and in many words. ".repeat(60) }),
});
