import { addCopyButtons } from "./copy.ts";
import { recall, remember } from "./stored.ts";

interface Tab {
  readonly name: string;
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
}

/** Every set of tabs of the page. A choice in one of them also selects the same tab in the others. */
const sets: (readonly Tab[])[] = [];
let count = 0;

/** Turns the samples of each `.tabs` into tabs, and selects the one that was chosen last in this browser. */
export function makeTabs(within: ParentNode): void {
  for (const box of within.querySelectorAll<HTMLElement>(".tabs")) {
    const list = document.createElement("div");
    list.className = "tab-list";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Samples");
    const tabs = [...box.querySelectorAll<HTMLElement>(":scope > section")].map((panel) => makeTab(panel));
    list.append(...tabs.map(({ button }) => button));
    list.addEventListener("keydown", (event) => moveFocus(event, tabs));
    box.prepend(list);
    sets.push(tabs);
    select(tabs, recall("tab") ?? "");
  }
}

function makeTab(panel: HTMLElement): Tab {
  const name = panel.dataset["tab"] ?? "";
  const id = `tab-${count++}`;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: name, id });
  button.setAttribute("role", "tab");
  panel.id = `${id}-panel`;
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", id);
  button.setAttribute("aria-controls", panel.id);
  button.addEventListener("click", () => choose(name, button));
  return { name, button, panel };
}

/** Selects a tab in every set, and keeps the clicked one where it is in the window. */
function choose(name: string, button: HTMLElement): void {
  const before = button.getBoundingClientRect().top;
  remember("tab", name);
  for (const tabs of sets) if (tabs.some((tab) => tab.name === name)) select(tabs, name);
  window.scrollBy({ top: button.getBoundingClientRect().top - before, behavior: "instant" });
}

/** Selects the tab of this name, or the first one. */
function select(tabs: readonly Tab[], name: string): void {
  const chosen = tabs.find((tab) => tab.name === name) ?? tabs[0];
  for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.button.setAttribute("aria-selected", String(isChosen));
    tab.button.tabIndex = isChosen ? 0 : -1;
    tab.panel.hidden = !isChosen;
  }
  if (chosen) void load(chosen.panel);
}

/** Loads the code of a panel that has only a link to it. If this fails, the link stays, and the next choice tries again. */
async function load(panel: HTMLElement): Promise<void> {
  const { src, language = "" } = panel.dataset;
  if (src === undefined) return;
  delete panel.dataset["src"];
  try {
    const [response, { highlight }] = await Promise.all([fetch(src), import("../markdown/highlight.ts")]);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const block = Object.assign(document.createElement("pre"), { tabIndex: 0 });
    // `highlight` escapes everything that it does not colour.
    block.innerHTML = `<code>${highlight((await response.text()).trimEnd(), language)}</code>`;
    const button = { type: "button", className: "copy", textContent: "Copy" };
    panel.querySelector(".elsewhere")?.replaceWith(Object.assign(document.createElement("button"), button), block);
    addCopyButtons(panel);
  } catch {
    panel.dataset["src"] = src;
  }
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

function moveFocus(event: KeyboardEvent, tabs: readonly Tab[]): void {
  const step = steps[event.key];
  const at = tabs.findIndex(({ button }) => button === document.activeElement);
  if (step === undefined || at < 0) return;
  const next = tabs[(at + step + tabs.length) % tabs.length];
  event.preventDefault();
  next?.button.focus();
  next?.button.click();
}
