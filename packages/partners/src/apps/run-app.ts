import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runCommand } from "../run-command.ts";
import type { Ended, Environment } from "../run-command.ts";
import { appsFolder, runFile } from "./app.ts";
import type { App } from "./app.ts";
import { startRecorder } from "./recorder.ts";

/** The service that the apps are tried on. */
export interface Service {
  /** Scheme, host and port. */
  readonly url: string;
  readonly key: string;
}

/** An app that asks a person something would wait for ever. */
const runLimitMs = 180_000;

export interface AppOutcome {
  readonly requests: readonly string[];
  /** Says why the app failed. It is undefined if the app shows an answer of the service. */
  readonly fault: string | undefined;
}

/** Commands that install each kind of app in its own folder. `uv` is quicker than pip, where it is there. */
const installers: Readonly<Record<App["kind"], (packages: string) => string>> = {
  python: (packages) =>
    `if command -v uv; then uv venv -q venv && uv pip install -q -p venv ${packages}; ` +
    `else python3 -m venv venv && venv/bin/pip install -q ${packages}; fi`,
  // An app of one file may bring its program in a script of its package.
  npm: (packages) => `npm install --no-audit --no-fund --foreground-scripts ${packages}`,
  go: (packages) => `go mod init app && go get ${packages}`,
};

/**
 * Installs an app in a folder of its own, runs it there, and removes the folder.
 * @param installed a folder `node_modules` to use in place of an installation
 */
export async function runApp(app: App, service: Service, installed?: string): Promise<AppOutcome> {
  const folder = join(tmpdir(), "parley-apps", app.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(appsFolder, app.name), folder, { recursive: true });
  using recorder = await startRecorder(service.url);
  try {
    if (installed === undefined) {
      const packages = app.packages.map((name) => `'${name}'`).join(" ");
      const { exitCode, output } = await runCommand(installers[app.kind](packages), folder, {});
      if (exitCode !== 0) return { requests: [], fault: `it cannot be installed:\n${output}` };
    } else symlinkSync(installed, join(folder, "node_modules"));
    const environment = environmentOf(folder, { PARLEY_URL: recorder.baseUrl, PARLEY_KEY: service.key });
    const ended = await runCommand(`bash -eu ${runFile}`, folder, environment, runLimitMs);
    return { requests: recorder.requests(), fault: faultOf(ended, recorder.answers()) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing of the machine's own settings: an app must find all that it needs in its lines. */
const environmentOf = (folder: string, service: Environment): Environment => ({
  ...service,
  PATH: [join(folder, "venv/bin"), join(folder, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, ".config"),
  LLM_USER_PATH: join(folder, "llm"),
  OPENAI_API_KEY: "",
  // Downloaded modules and compiled packages may stay: they are not settings.
  GOPATH: join(tmpdir(), "parley-apps-go"),

  GOCACHE: join(tmpdir(), "parley-apps-go/cache"),
});

function faultOf({ exitCode, output, printed }: Ended, answers: readonly string[]): string | undefined {
  if (exitCode !== 0) return `it ends with ${exitCode}:\n${output}`;
  if (answers.length === 0) return `it asked for no answer:\n${output}`;
  return answers.some((answer) => shows(printed, answer)) ? undefined : `it does not show the answer:\n${output}`;
}

/** Checks that an app prints the text of the model, however it wraps its lines. Structured answers are shown in part. */
function shows(printed: string, answer: string): boolean {
  const words = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, "");
  const value = answer.startsWith("{") ? Object.values(JSON.parse(answer) as object).join(" ") : answer; // of the schema that was asked for
  return words(value) !== "" && words(printed).includes(words(value).slice(0, 60));
}
