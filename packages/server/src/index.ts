export { startServer } from "./server.ts";
export type { RunningServer, ServerOptions } from "./server.ts";
export { readConfig } from "./config/read-config.ts";
export type { Config } from "./config/read-config.ts";
export { createLog } from "./observe/log.ts";
export { configSchema } from "./config/config-schema.ts";
export { flagOf, options, settingNames } from "./config/options.ts";
