/** Lists the cells of a table of states, such as "idle job → working", without their actions. */
export const cellsOf = (states: Readonly<Record<string, object>>): string[] =>
  Object.entries(states).flatMap(([state, row]) =>
    Object.entries(row).flatMap(([event, step]: [string, unknown]) => {
      if (typeof step !== "object" || step === null || !("next" in step)) return [];
      const { next } = step;
      return [`${state} ${event} → ${next instanceof Object && "name" in next ? String(next.name) : "nothing"}`];
    }),
  );
