import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** A language with a reader. */
export interface Language {
  readonly name: string;
  readonly folder: string;
  /** Programs that must be installed. */
  readonly needs: readonly string[];
  /** Builds the programs into the scratch folder. */
  readonly build: (scratch: string) => void;
  /** The command of a program, `ask` or `feed`. */
  readonly command: (program: "ask" | "feed", scratch: string) => readonly [file: string, ...args: string[]];
}

const folder = import.meta.dirname;
const nothing = (): void => undefined;

export const languages: readonly Language[] = [
  {
    name: "TypeScript",
    folder: "typescript",
    needs: [],
    build: nothing,
    command: (program) => [process.execPath, join(folder, `typescript/${program}.ts`)],
  },
  {
    name: "Python",
    folder: "python",
    needs: ["python3"],
    build: nothing,
    command: (program) => ["python3", "-B", join(folder, `python/${program}.py`)],
  },
  {
    name: "Go",
    folder: "go",
    needs: ["go"],
    build: (scratch) => run("go", ["build", "-o", `${scratch}/`, "./ask", "./feed"], join(folder, "go")),
    command: (program, scratch) => [join(scratch, program)],
  },
  {
    name: "Java",
    folder: "java",
    needs: ["javac"],
    build: (scratch) => {
      const sources = ["StreamReader.java", "Ask.java", "Feed.java"];
      run("javac", ["-cp", findGson(scratch), "-d", join(scratch, "classes"), ...sources], join(folder, "java"));
    },
    command: (program, scratch) => [
      "java",
      "-cp",
      `${join(scratch, "classes")}:${findGson(scratch)}`,
      program === "ask" ? "Ask" : "Feed",
    ],
  },
];

export const isInstalled = (program: string): boolean =>
  spawnSync(program, [program === "go" ? "version" : "--version"], { stdio: "ignore" }).error === undefined;

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: "pipe" });
}

/** Returns the path of Gson: from Debian's package `libgoogle-gson-java`, or a copy that Maven downloads. */
export function findGson(scratch: string): string {
  const debian = "/usr/share/java/gson.jar";
  if (existsSync(debian)) return debian;
  const fetched = join(scratch, "gson-2.13.2.jar");
  if (!existsSync(fetched)) {
    mkdirSync(scratch, { recursive: true });
    run(
      "mvn",
      ["-q", "dependency:copy", "-Dartifact=com.google.code.gson:gson:2.13.2", `-DoutputDirectory=${scratch}`],
      folder,
    );
  }
  return fetched;
}
