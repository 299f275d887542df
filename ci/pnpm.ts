import manifest from "../package.json" with { type: "json" };

/** The one version of pnpm; every page and script that names another fails a test. */
export const pnpmVersion = manifest.engines.pnpm.replace(">=", "");

/** How a step calls pnpm, wherever it runs. */
export const pnpm = ["npx", "-y", `pnpm@${pnpmVersion}`] as const;
