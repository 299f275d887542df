import { Option } from "commander";
import type { Command } from "commander";
import { clauses } from "../contract/contract.ts";
import { exampleCurl, explainClause } from "../report/explain.ts";
import type { RunProfile } from "../profile.ts";
import { checks, unchecked } from "../clauses/test-groups.ts";
import { profileNames, selectClauses } from "../contract/select-clauses.ts";
import type { ProfileName } from "../contract/select-clauses.ts";

/** A profile for requests that are printed and never sent. */
const example: RunProfile = {
  levels: [],
  origin: "https://api.example",
  basePath: "/v1",
  keyRoles: [],
  extraHeaders: [],
  isProbing: false,
  isExhaustive: true,
  seed: 0,
};

export function addListCommand(program: Command): void {
  program
    .command("list")
    .description("every clause, with its level and whether there is a check of it")
    .option("--json", "as JSON, with the way of each check and a command to try")
    .addOption(new Option("--profile <name>", "only the clauses of a profile").choices(profileNames))
    .action(({ json, profile = "parley" }: { readonly json?: boolean; readonly profile?: ProfileName }) => {
      const chosen = selectClauses(profile, []);
      const rows = clauses
        .filter(({ id }) => chosen?.includes(id) ?? true)
        .map((clause) => {
          const own = checks.filter((check) => check.clause === clause.id);
          const reason = unchecked.find((one) => one.clause === clause.id)?.reason;
          const curl = exampleCurl(clause.id, example, "API_KEY");
          return { ...clause, check: own.length > 0, reason, how: own.map(({ how }) => how), curl };
        });
      const lines = rows.map(
        ({ id, level, keyword, sentence, check }) =>
          `${id.padEnd(8)} ${level.padEnd(10)} ${keyword.padEnd(6)} ${check ? " " : "-"} ${sentence}`,
      );
      process.stdout.write(json === true ? `${JSON.stringify(rows, undefined, 2)}\n` : `${lines.join("\n")}\n`);
    });
}

export function addExplainCommand(program: Command): void {
  program
    .command("explain")
    .description("one clause: the sentence, why it matters, how it is checked, how to comply, and a command to try")
    .argument("<clause>", "such as STRM-04")
    .action((id: string) => {
      const text = explainClause(id.toUpperCase(), example, "API_KEY");
      if (text === undefined) throw new Error(`There is no clause ${id}. \`list\` shows them all.`);
      process.stdout.write(`${text}\n`);
    });
}
