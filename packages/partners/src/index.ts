/** The table of partners' generators and what the last runs gave, for the pages of the docs. */
export { programsFolder, readResult, stages } from "./results.ts";
export type { Cell, Stage } from "./results.ts";
export type { Tool } from "./tool.ts";
export { tools } from "./tools.ts";
