// Walks through the events of a stream, and lights the transitions and states that each of them takes.

const drawing = document.querySelector(".machines");
const walk = document.querySelector<HTMLElement>(".walk");
const status = walk?.querySelector("[role=status]");

/** The events of the stream whose tab is selected. */
const shownEvents = (): HTMLButtonElement[] =>
  [...document.querySelectorAll<HTMLButtonElement>(".replay button.event")].filter(
    (event) => event.offsetParent !== null,
  );

const namesOf = (element: Element): string[] => (element.getAttribute("data-taken") ?? "").split(" ").filter(Boolean);

/** Lights what one event takes. */
function light(events: readonly HTMLButtonElement[], at: number): void {
  const event = events[at];
  if (!event || !drawing) return;
  const taken = new Set(namesOf(event));
  for (const part of drawing.querySelectorAll("[data-taken]")) {
    part.classList.toggle(
      "lit",
      namesOf(part).some((name) => taken.has(name)),
    );
  }
  const states = statesAfter(events.slice(0, at + 1));
  for (const state of drawing.querySelectorAll<SVGElement>("[data-state]")) {
    state.classList.toggle("now", states.has(state.dataset["state"] ?? ""));
  }
  for (const [place, other] of events.entries()) {
    other.setAttribute("aria-pressed", String(place === at));
    other.classList.toggle("past", place < at);
  }
  event.scrollIntoView({ block: "nearest" });
  const said = taken.size === 0 ? "a comment, no transition" : [...taken].join(", ");
  if (status) status.textContent = `Event ${at + 1} of ${events.length}: ${said}`;
}

/** The state of each machine after these events: the target of the last transition that it took. */
function statesAfter(events: readonly HTMLButtonElement[]): Set<string> {
  const last = new Map<string, string>();
  for (const name of events.flatMap(namesOf)) last.set(name.split("/")[0] ?? "", name);
  return new Set([...last].map(([machine, name]) => `${machine}/${targets.get(name) ?? ""}`));
}

/** The state to which each transition leads, from the tables of the page. */
const targets = new Map(
  [...document.querySelectorAll<HTMLElement>("tr[data-transition]")].map((row) => [
    row.dataset["transition"] ?? "",
    row.dataset["to"] ?? "",
  ]),
);

const current = (events: readonly HTMLButtonElement[]): number =>
  events.findIndex((event) => event.getAttribute("aria-pressed") === "true");

let timer: ReturnType<typeof setInterval> | undefined;

function stopPlaying(): void {
  clearInterval(timer);
  timer = undefined;
  const button = walk?.querySelector('[data-walk="play"]');
  if (button) button.textContent = "Play";
}

function step(by: number): void {
  const events = shownEvents();
  const next = Math.min(Math.max(current(events) + by, 0), events.length - 1);
  light(events, next);
  if (next === events.length - 1) stopPlaying();
}

function play(button: Element): void {
  if (timer !== undefined) return stopPlaying();
  const events = shownEvents();
  if (current(events) === events.length - 1) for (const event of events) event.setAttribute("aria-pressed", "false");
  button.textContent = "Pause";
  timer = setInterval(() => step(1), 700);
  step(1);
}

if (walk) walk.hidden = false;
document.querySelector(".replay")?.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  const events = shownEvents();
  const event = target.closest<HTMLButtonElement>("button.event");
  if (event) light(events, events.indexOf(event));
  const way = target.closest<HTMLElement>("[data-walk]");
  if (way?.dataset["walk"] === "next") step(1);
  if (way?.dataset["walk"] === "back") step(-1);
  if (way?.dataset["walk"] === "play") play(way);
  if (target.closest('[role="tab"]')) {
    stopPlaying();
    light(shownEvents(), 0);
  }
});
