import leven from "leven";
import { ApiError } from "../errors/api-error.ts";
import type { Site } from "./open-site.ts";

/** The address of the page for browsers. Hosts of static files look for its file, too. */
export const missingPath = "/404";

const maxNearest = 5;
/** Only this many characters of a name are compared. The work grows with the square of the length. */
const maxNameCharacters = 40;

/** Returns the 404 for a path below `/docs`. Its message names the nearest page, if one resembles the path. */
export function explainMissing(entries: Site["entries"], path: string): ApiError {
  const [nearest] = nearestPages(entries, path);
  const hint = nearest === undefined ? "" : ` The nearest page is ${nearest.path}.`;
  return new ApiError("unknown_url", `Nothing is served at ${path.slice(0, 100)}.${hint} /llms.txt lists the pages.`);
}

/** Puts links to the nearest pages into the page for browsers. @param html the file of {@link missingPath} */
export function withNearestPages(html: string, entries: Site["entries"], path: string): string {
  // Titles in the manifest are escaped, and addresses of pages need no escapes.
  const links = nearestPages(entries, path).map((page) => `<li><a href="${page.path}">${page.title}</a></li>`);
  const list = links.length === 0 ? "" : `<h2>Nearest pages</h2><ul>${links.join("")}</ul>`;
  return html.replace('<div class="nearest"></div>', () => list);
}

interface NearPage {
  readonly path: string;
  readonly title: string;
}

/** Finds pages whose last segment resembles that of a path. Pages of the same folder are first among equals. */
function nearestPages(entries: Site["entries"], path: string): readonly NearPage[] {
  const wanted = nameOf(path.replace(/\.\w+$/, ""));
  const folder = folderOf(path);
  const near = [...entries].flatMap(([page, { title }]) => {
    const distance = title === undefined || page === missingPath ? Infinity : distanceOf(wanted, nameOf(page));
    return title === undefined || distance > Math.max(1, wanted.length / 3)
      ? []
      : [{ path: page, title, rank: distance + (folderOf(page) === folder ? 0 : 0.5) }];
  });
  return near.toSorted((one, other) => one.rank - other.rank).slice(0, maxNearest);
}

/** Returns the last segment of a path in small letters, without hyphens and the like. */
const nameOf = (path: string): string =>
  path
    .slice(path.lastIndexOf("/") + 1)
    .slice(0, maxNameCharacters)
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, "");

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/")).toLowerCase();

/** Counts the edits between two names. A name that contains the other one is a single edit away. */
function distanceOf(wanted: string, name: string): number {
  if (wanted.length > 3 && name !== wanted && (name.includes(wanted) || (name.length > 3 && wanted.includes(name))))
    return 1;
  return leven(wanted, name);
}
