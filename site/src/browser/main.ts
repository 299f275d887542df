import { addCopyButtons } from "./copy.ts";
import { remember } from "./stored.ts";
import { makeTabs } from "./tabs.ts";

/** The script of every page. The search is loaded when it is opened. */

const find = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(selector);

function offerThemes(): void {
  const button = find("button.theme");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset["theme"]
      ? root.dataset["theme"] === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = isDark ? "light" : "dark";
    remember("theme", root.dataset["theme"]);
  });
}

function offerMenu(): void {
  const button = find("button.menu");
  const side = find("#side");
  if (!button || !side) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const isShown = side.classList.toggle("shown");
    button.setAttribute("aria-expanded", String(isShown));
    if (isShown) window.scrollTo(0, 0);
  });
  // Scrolls the list alone, so that the current page is in view.
  const current = side.querySelector<HTMLElement>('[aria-current="page"]');
  if (current && current.offsetTop > side.clientHeight) side.scrollTop = current.offsetTop - side.clientHeight / 2;
}

function offerSearch(): void {
  const button = find("button.search-open");
  if (!button) return;
  const open = (): void => void import("./search.ts").then(({ openSearch }) => openSearch());
  button.hidden = false;
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof HTMLElement &&
      (event.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName));
    const isCommand = event.key === "k" && (event.metaKey || event.ctrlKey);
    if (!isCommand && (event.key !== "/" || isTyping)) return;
    event.preventDefault();
    open();
  });
}

/** Marks the heading in view in the list of headings. */
function followHeadings(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>(".toc a")].map((link) => [link.hash.slice(1), link] as const),
  );
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  if (headings.length === 0) return;
  const mark = (): void => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 140);
    const here = (passed.at(-1) ?? headings[0])?.id;
    for (const [id, link] of links) link.classList.toggle("here", id === here);
  };
  let isWaiting = false;
  const markOnce = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      mark();
    });
  };
  addEventListener("scroll", markOnce, { passive: true });
  mark();
}

/** Opens the folded parts around the target of the address. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target?.closest("details"); part; part = part.parentElement?.closest("details")) part.open = true;
  if (target?.closest("details")) target.scrollIntoView();
}

offerThemes();
offerMenu();
offerSearch();
followHeadings();
openTarget();
addEventListener("hashchange", openTarget);
makeTabs(document);
addCopyButtons(document);
