/**
 * The numbers from 0 to below `count`, divided into sets that are split again and again. At first all of them are in set
 * 0. Marking an element and splitting a set take constant time for each element that is marked.
 */
export class Partition {
  /** The number of sets. */
  size: number;
  /** The elements, ordered by set, with the marked ones first in each set. `#places` has the position of each element. */
  readonly #elements: number[];
  readonly #places: number[];
  /** The set of each element. */
  readonly #sets: number[];
  /** For each set, where it begins and ends, and how many of its elements are marked. */
  readonly #begins: number[];
  readonly #ends: number[];
  readonly #marked: number[];
  /** The sets with marked elements. */
  readonly #touched: number[] = [];

  constructor(count: number) {
    this.size = count === 0 ? 0 : 1;
    this.#elements = zeros(count);
    for (let element = 0; element < count; element++) this.#elements[element] = element;
    this.#places = this.#elements.slice();
    this.#sets = zeros(count);
    this.#begins = [0];
    this.#ends = [count];
    this.#marked = [0];
  }

  of(element: number): number {
    return this.#sets[element] ?? 0;
  }

  /** Returns the index of the first element of a set. Its elements are contiguous. */
  begin(set: number): number {
    return this.#begins[set] ?? 0;
  }

  end(set: number): number {
    return this.#ends[set] ?? 0;
  }

  at(place: number): number {
    return this.#elements[place] ?? 0;
  }

  mark(element: number): void {
    const set = this.#sets[element] ?? 0;
    const marked = this.#marked[set] ?? 0;
    const own = this.#places[element] ?? 0;
    const place = (this.#begins[set] ?? 0) + marked;
    if (own < place) return;
    const other = this.#elements[place] ?? 0;
    this.#elements[own] = other;
    this.#places[other] = own;
    this.#elements[place] = element;
    this.#places[element] = place;
    if (marked === 0) this.#touched.push(set);
    this.#marked[set] = marked + 1;
  }

  /** Divides each set into its marked and its other elements. The smaller half becomes a new set. */
  split(): void {
    for (let set = this.#touched.pop(); set !== undefined; set = this.#touched.pop()) {
      const begin = this.#begins[set] ?? 0;
      const middle = begin + (this.#marked[set] ?? 0);
      const end = this.#ends[set] ?? 0;
      this.#marked[set] = 0;
      if (middle < end) this.#divide(set, begin, middle, end);
    }
  }

  #divide(set: number, begin: number, middle: number, end: number): void {
    const created = this.size++;
    const isFirstSmaller = middle - begin <= end - middle;
    this.#begins.push(isFirstSmaller ? begin : middle);
    this.#ends.push(isFirstSmaller ? middle : end);
    this.#marked.push(0);
    this.#begins[set] = isFirstSmaller ? middle : begin;
    this.#ends[set] = isFirstSmaller ? end : middle;
    for (let place = this.begin(created); place < this.end(created); place++)
      this.#sets[this.#elements[place] ?? 0] = created;
  }
}

/** Plain arrays: most automata are small, and typed arrays take long to make. */
export function zeros(length: number): number[] {
  const list: number[] = [];
  for (let index = 0; index < length; index++) list.push(0);
  return list;
}
