/** Sends a request of the generated client to the server, with the key. */
export const send = (path: string, options: RequestInit): Promise<Response> => {
  const headers = new Headers(options.headers);
  headers.set("authorization", `Bearer ${process.env["PARLEY_KEY"]}`);
  return fetch(`${process.env["PARLEY_URL"]}${path}`, { ...options, headers });
};

/** The generated client calls this function. `T` is one of the answers that the contract gives to the operation. */
export async function fetchJson<T>(path: string, options: RequestInit): Promise<T> {
  const response = await send(path, options);
  return { status: response.status, headers: response.headers, data: await response.json() } as T;
}
