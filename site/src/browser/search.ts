import MiniSearch from "minisearch";
import type { SearchResult } from "minisearch";
import { searchOptions } from "../search-options.ts";
import type { SearchRecord } from "../search-options.ts";

/** The search of the whole portal. Its index is built here, from the texts of `search.json`, when the search is first opened. */

interface Found {
  readonly path: string;
  readonly title: string;
  readonly part: string;
  readonly text: string;
}

let dialog: SearchDialog | undefined;

/** @param query replaces the text of the field */
export function openSearch(query?: string): void {
  dialog ??= new SearchDialog();
  dialog.open(query);
}

async function loadIndex(): Promise<MiniSearch<SearchRecord>> {
  const response = await fetch("/docs/search.json");
  if (!response.ok) throw new Error(`status ${response.status}`);
  // The build has written these records.
  const records = (await response.json()) as readonly SearchRecord[];
  const index = new MiniSearch<SearchRecord>(searchOptions);
  await index.addAllAsync(records, { chunkSize: 40 });
  return index;
}

class SearchDialog {
  readonly #element = document.createElement("dialog");
  readonly #input = document.createElement("input");
  readonly #status = document.createElement("p");
  readonly #results = document.createElement("ul");
  #index: Promise<MiniSearch<SearchRecord>> | undefined;
  #selected = 0;

  constructor() {
    this.#element.className = "search";
    this.#element.setAttribute("aria-label", "Search the documentation");
    Object.assign(this.#input, {
      type: "search",
      placeholder: "Clause, error, parameter, question",
      autocomplete: "off",
    });
    const attributes = {
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "search-results",
      "aria-autocomplete": "list",
    };
    for (const [name, value] of Object.entries({ ...attributes, "aria-label": "Search" }))
      this.#input.setAttribute(name, value);
    this.#status.className = "search-status";
    this.#status.setAttribute("role", "status");
    Object.assign(this.#results, { className: "search-results", id: "search-results", role: "listbox" });
    this.#results.setAttribute("aria-label", "Results");
    const close = Object.assign(document.createElement("button"), {
      type: "button",
      className: "search-close",
      textContent: "Close",
    });
    close.addEventListener("click", () => this.#element.close());
    const field = Object.assign(document.createElement("div"), { className: "search-field" });
    field.append(this.#input, close);
    this.#element.append(field, this.#status, this.#results);
    document.body.append(this.#element);
    this.#input.addEventListener("input", () => void this.#search());
    this.#element.addEventListener("keydown", (event) => this.#onKey(event));
    this.#element.addEventListener("click", (event) => event.target === this.#element && this.#element.close());
  }

  open(query = this.#input.value): void {
    this.#input.value = query;
    if (!this.#element.open) this.#element.showModal();
    this.#input.select();
    void this.#search();
  }

  async #search(): Promise<void> {
    const query = this.#input.value.trim();
    try {
      this.#index ??= loadIndex();
      const index = await this.#index;
      // An answer to an earlier input must not replace that to a later one.
      if (query === this.#input.value.trim()) this.#show(query, query === "" ? [] : index.search(query).slice(0, 12));
    } catch {
      this.#index = undefined;
      this.#status.textContent = "The search could not be loaded. Try again.";
    }
  }

  #show(query: string, results: readonly SearchResult[]): void {
    const count =
      results.length === 0 ? "Nothing found" : `${results.length} ${results.length === 1 ? "page" : "pages"}`;
    this.#status.textContent =
      query === "" ? "Try “cancel”, “429”, “tool_choice” or “STRM-04”." : `${count} for “${query}”`;
    // The index stores these fields of each record.
    this.#results.replaceChildren(...results.map((result) => row(result as unknown as Found & SearchResult)));
    this.#select(0);
  }

  #select(at: number): void {
    const options = [...this.#results.querySelectorAll("a")];
    this.#selected = Math.max(0, Math.min(at, options.length - 1));
    for (const [place, option] of options.entries()) {
      const isSelected = place === this.#selected;
      option.setAttribute("aria-selected", String(isSelected));
      option.id = `search-${place}`;
      if (isSelected) option.scrollIntoView({ block: "nearest" });
    }
    if (options.length > 0) this.#input.setAttribute("aria-activedescendant", `search-${this.#selected}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.#select(this.#selected + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && event.target === this.#input) {
      event.preventDefault();
      this.#results.querySelectorAll("a")[this.#selected]?.click();
    }
  }
}

function row({ path, title, part, text, terms }: Found & SearchResult): HTMLLIElement {
  const item = document.createElement("li");
  item.setAttribute("role", "presentation");
  const link = Object.assign(document.createElement("a"), { href: path });
  link.setAttribute("role", "option");
  link.tabIndex = -1;
  const name = Object.assign(document.createElement("b"), { textContent: title });
  const excerpt = document.createElement("span");
  excerpt.append(...excerptOf(text, terms));
  link.append(name, part, excerpt);
  item.append(link);
  return item;
}

/** The part of a text around the first term that was found, with the terms marked. */
function excerptOf(text: string, terms: readonly string[]): (Node | string)[] {
  // Terms consist of letters, digits, hyphens and underscores, so they need no escapes.
  const pattern = new RegExp(`(${terms.join("|") || "$^"})`, "giu");
  const first = text.search(pattern);
  const start = Math.max(0, first - 40);
  const shown = (start > 0 ? "…" : "") + text.slice(start, start + 160);
  return shown
    .split(pattern)
    .map((part, at) => (at % 2 === 1 ? Object.assign(document.createElement("mark"), { textContent: part }) : part));
}
