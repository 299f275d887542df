/** The table of partners' generators and the results of the last runs, for the docs. */
export { filesOf, readAppResult } from "./apps/app.ts";
export type { App } from "./apps/app.ts";
export { apps } from "./apps/apps.ts";
export { programsFolder, readResult, stages } from "./results.ts";
export type { Cell, Stage } from "./results.ts";
export { prerequisites } from "./tool.ts";
export type { Tool } from "./tool.ts";
export { tools } from "./tools.ts";
