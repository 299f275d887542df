export type Command = readonly [program: string, ...args: string[]];

/** What a step may see of the secrets: everything that is not named is taken out of its environment. */
export const secretNames = ["PARLEY_API_KEY"] as const;
export type SecretName = (typeof secretNames)[number];
