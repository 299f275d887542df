import { connection, DaggerSDKError } from "@dagger.io/dagger";
import { Option } from "commander";
import { commandFor, reportFailure, runSelected } from "./command-line.ts";
import type { Flags, Runner } from "./command-line.ts";
import { publishServer } from "./containers/publish.ts";
import { containerRunner } from "./containers/run-step.ts";

// `pnpm run pipeline`: the steps of the table in containers. Dagger's engine runs them, here or wherever its client finds it.

interface PipelineFlags extends Flags {
  readonly publish?: string;
}

const pipeline = ({ publish }: PipelineFlags): Runner => ({
  name: "dagger",
  verb: "pnpm run pipeline",
  description: "Runs the steps of the pipeline in containers, on a Dagger engine.",
  open: (use, stop) =>
    connection(async () => {
      const isGreen = await use(containerRunner(stop));
      if (isGreen && publish !== undefined) process.stdout.write(`Published ${await publishServer(publish)}\n`);
    }),
});

const command = commandFor(pipeline({}))
  .addOption(
    new Option(
      "--publish <reference>",
      "where the server's image goes when every step has passed, such as HOST/NAME:TAG",
    ),
  )
  .action(async (flags: PipelineFlags) => {
    process.exitCode = await runSelected(pipeline(flags), flags);
  });

try {
  await command.parseAsync();
} catch (error) {
  // The client wraps the error of its engine.
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof DaggerSDKError)) process.exitCode = reportFailure(error);
  else {
    process.stderr.write(
      `error: ${cause.message}\nThe pipeline needs a Dagger engine; the program \`dagger\` starts one in Docker.\n`,
    );
    process.exitCode = 1;
  }
}
