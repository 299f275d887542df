#!/usr/bin/env node
import { Command } from "commander";
import { suiteVersion } from "../report/report.ts";
import { addClientCommand } from "./client.ts";
import { addInitCommand, addScriptCommand } from "./init.ts";
import { addExplainCommand, addListCommand } from "./list.ts";
import { addCompareCommand, addReplayCommand } from "./replay.ts";
import { addRunCommand } from "./run.ts";
import { addSandwichCommand } from "./sandwich.ts";

/** 2: the command line is wrong, or the service is unreachable. */
const usageError = 2;

const program = new Command("parley-conformance")
  .description("judges an implementation of the Parley chat-completion contract, clause by clause")
  .version(suiteVersion)
  .exitOverride();
addRunCommand(program);
addSandwichCommand(program);
addListCommand(program);
addClientCommand(program);
addExplainCommand(program);
addReplayCommand(program);
addCompareCommand(program);
addInitCommand(program);
addScriptCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  const code = typeof error === "object" && error !== null && "exitCode" in error ? Number(error.exitCode) : usageError;
  const isHelp = code === 0;
  if (!isHelp && !(error instanceof Error && error.name === "CommanderError"))
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isHelp ? 0 : usageError;
}
