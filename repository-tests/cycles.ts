import { importsOf } from "./imports.ts";

/** The imports between the entries (files and folders) of a folder. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds the import cycles between the entries of `root`, each as the sorted names of all entries that reach one another.
 * Imports of types count, because a reader has to follow them as well.
 * @param root a folder that ends in a slash
 * @param sources the code files in it
 */
export function findCycles(root: string, sources: readonly string[]): string[][] {
  const graph = graphOf(root, sources);
  const reached = new Map([...graph.keys()].map((entry) => [entry, reachableFrom(graph, entry)] as const));
  const circular = [...graph.keys()].filter((entry) => reached.get(entry)?.has(entry));
  const cycles = circular.map((entry) =>
    circular.filter((other) => reached.get(entry)?.has(other) && reached.get(other)?.has(entry)).toSorted(),
  );
  return [...new Map(cycles.map((cycle) => [cycle.join(" "), cycle])).values()];
}

function graphOf(root: string, sources: readonly string[]): Graph {
  const entryOf = (path: string): string => path.slice(root.length).split("/", 1)[0] ?? "";
  const graph = new Map<string, Set<string>>();
  for (const path of sources) {
    const from = entryOf(path);
    const targets = importsOf(path).filter((target) => target.startsWith(root) && entryOf(target) !== from);
    graph.set(from, new Set([...(graph.get(from) ?? []), ...targets.map(entryOf)]));
  }
  return graph;
}

function reachableFrom(graph: Graph, start: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const news = [...(graph.get(entry) ?? [])].filter((next) => !seen.has(next));
    for (const next of news) seen.add(next);
    open.push(...news);
  }
  return seen;
}
