/**
 * Calls `ask` every 10 ms until `isWanted` accepts the answer.
 * @returns that answer
 * @throws {Error} after `timeoutMs`, with the last answer in its message
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms; last seen: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
