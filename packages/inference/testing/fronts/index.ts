export { knownFronts, workerKinds } from "./known-fronts.ts";
export { missingOf } from "./start-front.ts";
