import type { LinkTargets } from "../markdown/link-targets.ts";
import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";
import { adminPages } from "./admin.ts";
import { changelogPages } from "./changelog.ts";
import { clausePages } from "./clauses.ts";
import { errorPages } from "./errors.ts";
import { frontPage } from "./front.ts";
import { guidePages } from "./guides.ts";
import { programPages } from "./programs.ts";
import { referencePages } from "./reference.ts";
import { tryPages } from "./try.ts";

/** Every page of the portal. The order of pages of one part is the order of its list. */
export const allPages = (sources: Sources, targets: LinkTargets): Page[] => [
  frontPage(sources, targets),
  ...guidePages(sources),
  ...programPages(),
  ...referencePages(sources, targets),
  ...changelogPages(sources),
  ...tryPages(sources),
  ...clausePages(sources, targets),
  ...errorPages(sources, targets),
  ...adminPages(sources, targets),
];
