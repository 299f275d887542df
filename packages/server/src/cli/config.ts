import type { Command } from "commander";
import { configSchema } from "../config/config-schema.ts";
import { options, settingNames } from "../config/options.ts";
import type { SettingName, Settings } from "../config/options.ts";
import { addSettingFlags, settingsOf } from "./settings.ts";
import { toTable } from "./table.ts";

export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("look at the configuration without starting anything");
  addSettingFlags(config.command("check").description("print every setting with where it comes from")).action(
    (_flags, command: Command) => {
      const { config: read, origins } = settingsOf(command);
      const rows = settingNames.map((name) => [options[name].env, show(name, read[name]), origins[name]]);
      process.stdout.write(toTable(["setting", "value", "from"], rows));
      if (Object.keys(read.models).length > 0)
        process.stdout.write(`models: ${JSON.stringify(read.models, undefined, 2)}\n`);
    },
  );
  config
    .command("schema")
    .description("print the JSON Schema of parley.yaml")
    .action(() => {
      process.stdout.write(`${JSON.stringify(configSchema(), undefined, 2)}\n`);
    });
}

function show<Name extends SettingName>(name: Name, value: Settings[Name]): string {
  if (value === undefined) return "-";
  if (options[name].key === undefined) return "(set, not shown)";
  return typeof value === "number" && name.endsWith("Ms") ? `${value / 1000} s` : [value].flat().join(",");
}
