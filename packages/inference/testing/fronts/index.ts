export { knownFronts, workerKinds } from "./known-fronts.ts";
export { MissingFrontError, programOf } from "./start-front.ts";
