/** Creates an element with properties and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Returns an element of the page. @throws {Error} if the page does not have it */
export function byId<Type extends HTMLElement>(id: string, type: abstract new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} with the id ${id}.`);
  return found;
}

/** Lets people use the page: it is inert until its scripts listen. */
export function makeReady(): void {
  for (const part of document.querySelectorAll("[inert]")) part.removeAttribute("inert");
}

/** Returns text with the parts in backticks as code. */
export const withCode = (text: string): (Node | string)[] =>
  text.split("`").map((part, at) => (at % 2 === 1 ? element("code", { textContent: part }) : part));
