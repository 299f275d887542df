import manifest from "../package.json" with { type: "json" };

/** The only version of pnpm. A test fails for every page or script that names another. */
export const pnpmVersion = manifest.engines.pnpm.replace(">=", "");

/** The command with which a step calls pnpm, on a host and in containers. */
export const pnpm = ["npx", "-y", `pnpm@${pnpmVersion}`] as const;
