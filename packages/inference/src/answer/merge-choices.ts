/**
 * Merges generators into one, in the order in which they yield. Leaving the loop, or the failure of one generator, closes
 * all of them and waits until they have ended.
 * @param leave called before that wait, unless all have ended by themselves. It must make generators that still wait end soon.
 */
export async function* mergeChoices<T>(
  generators: readonly AsyncGenerator<T>[],
  leave: () => void = () => undefined,
): AsyncGenerator<readonly [index: number, value: T]> {
  const next = (
    index: number,
    generator: AsyncGenerator<T>,
  ): Promise<{ index: number; result: IteratorResult<T, void> }> =>
    generator.next().then((result) => ({ index, result }));
  const pending = new Map(generators.map((generator, index) => [index, next(index, generator)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      const generator = generators[index];
      if (result.done || !generator) {
        pending.delete(index);
        continue;
      }
      yield [index, result.value];
      pending.set(index, next(index, generator));
    }
  } finally {
    if (pending.size > 0) leave();
    await Promise.allSettled(pending.values());
    await Promise.allSettled(generators.map((generator) => generator.return(undefined)));
  }
}
