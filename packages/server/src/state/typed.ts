/**
 * Returns the shell command for a subcommand, for messages to the operator: with the name by which `deploy/parley` was called,
 * or with npm alone.
 */
export const typed = (command: string): string =>
  `${process.env["PARLEY_COMMAND"] ?? "npx -y pnpm@12.21.0 parley"} ${command}`;
