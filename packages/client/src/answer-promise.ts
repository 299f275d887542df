import type { Answer } from "./request.ts";

/** A promise of an answer that can also give what came with it. */
export interface AnswerPromise<T> extends Promise<T> {
  /** The same answer, with the response that brought it and the request id. */
  withResponse(): Promise<Answer<T>>;
}

export function promiseData<T>(answer: Promise<Answer<T>>): AnswerPromise<T> {
  const data = answer.then((whole) => whole.data);
  return Object.assign(data, {
    withResponse: () => {
      data.catch(() => undefined); // its failure is that of `answer`, which the caller now waits for
      return answer;
    },
  });
}
