/** Offers to search for the words of an address that has no page. */

const [, name = ""] = /([^/]*?)(?:\.\w+)?\/?$/.exec(location.pathname) ?? [];
// The segment of an address may have escapes that are not valid.
const words = name.replaceAll(/%..|[^\w]+|_/g, " ").trim();
const button = document.querySelector<HTMLButtonElement>(".search-missing");
if (button) {
  if (words !== "") button.textContent = `Search for “${words}”`;
  button.hidden = false;
  button.addEventListener("click", () => void import("./search.ts").then(({ openSearch }) => openSearch(words)));
}
