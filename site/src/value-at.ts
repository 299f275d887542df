/** Returns the value at a JSON Pointer, or undefined where it leads nowhere. */
export function valueAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((inner, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    // `in` has shown that the member may be read.
    return typeof inner === "object" && inner !== null && name in inner
      ? (inner as Record<string, unknown>)[name]
      : undefined;
  }, value);
}
