import { setTimeout as wait } from "node:timers/promises";

/** The part of the contract's listing that is looked at. */
interface Listing {
  readonly data: readonly { readonly is_ready: boolean }[];
}

/** Waits until every model of a server is ready; its port may be open before it listens. The step's limit ends the wait. */
export async function untilReady(url: string, key: string): Promise<void> {
  const areReady = async (): Promise<boolean> => {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`the list of models is answered with ${response.status}`);
    const { data } = (await response.json()) as Listing; // the contract's
    return data.every((model) => model.is_ready);
  };
  const isRefused = (error: unknown): false => {
    if (error instanceof TypeError) return false; // what fetch throws without an answer
    throw error;
  };
  while (!(await areReady().catch(isRefused))) await wait(500);
}
