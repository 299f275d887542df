export type Command = readonly [program: string, ...args: string[]];

/** Secrets that a step can ask for. The others are removed from its environment. */
export const secretNames = ["PARLEY_API_KEY"] as const;
export type SecretName = (typeof secretNames)[number];
