import type { Row } from "./row.ts";
import { killedServers } from "./rows/killed-servers.ts";
import { outages } from "./rows/outages.ts";
import { races } from "./rows/races.ts";
import { rollingRestart } from "./rows/rolling.ts";
import { largeLedger } from "./rows/size.ts";
import { addedTime } from "./rows/time.ts";

/** All rows, in the order in which they run. */
export const rows: readonly Row[] = [addedTime, ...races, ...killedServers, ...outages, rollingRestart, largeLedger];
