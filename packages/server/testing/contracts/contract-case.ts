/** One sentence of an interface's contract, with a test of it. */
export interface ContractCase<Subject> {
  readonly title: string;
  /** Rejects when the subject breaks the sentence. The subject is new, and nothing else uses it. */
  readonly assert: (subject: Subject) => Promise<void>;
}

/** Creates a new subject. Disposal removes it. */
export type OpenSubject<Subject> = () => Promise<Subject & AsyncDisposable>;

/** Runs one case on a fresh subject. @throws {AssertionError} when the implementation breaks it */
export async function assertCase<Subject>(
  one: ContractCase<Subject>,
  openSubject: OpenSubject<Subject>,
): Promise<void> {
  await using subject = await openSubject();
  await one.assert(subject);
}

/** Returns the titles of the cases that an implementation breaks. */
export async function findViolations<Subject>(
  contract: readonly ContractCase<Subject>[],
  openSubject: OpenSubject<Subject>,
): Promise<string[]> {
  const titles: string[] = [];
  for (const one of contract) {
    await assertCase(one, openSubject).catch(() => titles.push(one.title));
  }
  return titles;
}
