/** Reads a value that this browser remembers. A browser without storage remembers nothing. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(`parley-${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`parley-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
