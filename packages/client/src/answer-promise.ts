import type { Answer } from "./request.ts";

/** A promise of an answer. It can also give the response and the request id of that answer. */
export interface AnswerPromise<T> extends Promise<T> {
  /** Returns the same answer together with its HTTP response and its request id. Fails as the promise does. */
  withResponse(): Promise<Answer<T>>;
}

/** Makes a promise of the data alone from a promise of the whole answer. */
export function promiseData<T>(answer: Promise<Answer<T>>): AnswerPromise<T> {
  const data = answer.then((whole) => whole.data);
  return Object.assign(data, {
    withResponse: () => {
      data.catch(() => undefined); // `answer` fails with the same error, and the caller now waits for it
      return answer;
    },
  });
}
