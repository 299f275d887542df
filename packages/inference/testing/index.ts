export { miniFolder, otherFolder, writeScriptedVllm } from "./start-scripted-vllm.ts";
export { isAlive, until } from "./until.ts";
