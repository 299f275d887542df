/** Returns the seed of one choice: the request's seed plus the index of the choice, wrapped around to an int64. */
export const seedOfChoice = (seed: string, choice: number): bigint => BigInt.asIntN(64, BigInt(seed) + BigInt(choice));
