/** Everything that is wrong with the configuration, together: a sentence for each fault. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(["The configuration has faults:", ...faults.map((fault) => `  - ${fault}`)].join("\n"));
    this.faults = faults;
  }
}
