/** All faults of the configuration, one sentence each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(["The configuration has faults:", ...faults.map((fault) => `  - ${fault}`)].join("\n"));
    this.faults = faults;
  }
}
