/** The table of partners' generators and what the last runs gave, for the pages of the docs. */
export { programsFolder, readResult } from "./results.ts";
export type { Cell, Result, Row } from "./results.ts";
export type { Tool } from "./tool.ts";
export { tools } from "./tools.ts";
