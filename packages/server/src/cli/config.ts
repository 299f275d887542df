import type { Command } from "commander";
import { configSchema } from "../config/config-schema.ts";
import { toText } from "../config/setting.ts";
import type { ModelConfig } from "../config/read-models.ts";
import { settingNames, settings } from "../config/settings.ts";
import type { SettingName, Settings } from "../config/settings.ts";
import { addSettingFlags, settingsOf } from "./settings.ts";
import { toTable } from "./table.ts";

export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("check the configuration without starting anything");
  addSettingFlags(config.command("check").description("print every setting and its source")).action(
    (_flags, command: Command) => {
      const { config: read, origins } = settingsOf(command);
      const rows = settingNames.map((name) => [settings[name].env, show(name, read[name]), origins[name]]);
      process.stdout.write(toTable(["setting", "value", "from"], rows));
      process.stdout.write(`models: ${JSON.stringify(read.models.map(withoutSecrets), undefined, 2)}\n`);
    },
  );
  config
    .command("schema")
    .description("print the JSON Schema of parley.yaml")
    .action(() => {
      process.stdout.write(`${JSON.stringify(configSchema(), undefined, 2)}\n`);
    });
}

const hidden = "(set, not shown)";

function show<Name extends SettingName>(name: Name, value: Settings[Name]): string {
  if (value === undefined) return "-";
  if (settings[name].flag === undefined) return hidden;
  return typeof value === "number" && name.endsWith("Ms") ? `${value / 1000} s` : toText(value);
}

/** Returns the printed form of a model, without its token and its headers, which may also contain a token. */
function withoutSecrets({ engineConfig, ...model }: ModelConfig): object {
  if (engineConfig.driver !== "remote") return { ...model, engine: engineConfig };
  const { apiKey, given, ...engine } = engineConfig;
  const headers = Object.fromEntries(Object.keys(given.headers ?? {}).map((name) => [name, hidden]));
  return { ...model, engine: { ...engine, ...given, headers, apiKey: apiKey && hidden } };
}
