export { ExactNumber, toJsonNumber } from "./exact-number.ts";
export type { JsonNumber } from "./exact-number.ts";
export { objectOf, parseJson, parseJsonWith, parseSpelledJson } from "./parse-json.ts";
export { scanJson, sourceOfMember } from "./scan-json.ts";
export type { JsonScan, JsonSize } from "./scan-json.ts";
