import { options, settingNames } from "../src/config/options.ts";
import type { Config } from "../src/config/read-config.ts";

/** The configuration that a server has when nothing is set. */
export const defaultConfig = (): Config => {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, options[name].fallback]));
  return { ...(defaults as unknown as Config), models: {} }; // a value for every row of the table
};
