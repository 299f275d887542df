/** Returns the metrics of a worker or a front, in the text format of Prometheus. */
export const readMetrics = async (url: string): Promise<string> =>
  (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5000) })).text();

/** Adds up the values of the lines that match. */
export const sumOf = (metrics: string, line: RegExp): number =>
  metrics
    .split("\n")
    .filter((one) => line.test(one))
    .reduce((sum, one) => sum + Number(one.slice(one.lastIndexOf(" ") + 1)), 0);
