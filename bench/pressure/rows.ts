import type { Row } from "./row.ts";
import { answersHuge } from "./rows/answers-huge.ts";
import * as bodies from "./rows/bodies.ts";
import {
  bodyChunkExtensions,
  bodyContinue,
  bodyTrailers,
  bodyTinyChunks,
  bodyTinyChunksNeverRead,
  bodyTinyChunksUnread,
} from "./rows/body-framing.ts";
import { bodySchemas } from "./rows/body-schemas.ts";
import { engineFrozen, engineKilled } from "./rows/engine.ts";
import { floodPipelined } from "./rows/flood-pipelined.ts";
import { floodDocs, floodHead, floodKeyIds, floodOptions, floodWrongKeys } from "./rows/floods.ts";
import { gateHungUpPrompts, gateManyPrompts, gateSpentRequests, gateUnfinishedBodies } from "./rows/gate.ts";
import { gatePipelinedChats } from "./rows/gate-pipelined.ts";
import { headsHuge } from "./rows/heads-huge.ts";
import { headsSlow } from "./rows/heads-slow.ts";
import { keysDisabled } from "./rows/keys-disabled.ts";
import { ledgerBackup } from "./rows/ledger-backup.ts";
import { ledgerRestore } from "./rows/ledger-restore.ts";
import { logFullDisk, logLongPaths } from "./rows/log-full-disk.ts";
import { modelsBroken } from "./rows/models-broken.ts";
import { moneyCallsAtOnce } from "./rows/money.ts";
import * as prompts from "./rows/prompts.ts";
import { queueLongChoices, queueManyKeys, queueOneKey } from "./rows/queue.ts";
import { socketsChurn } from "./rows/sockets-churn.ts";
import { socketsOfAddresses, socketsOfProbes, socketsOfStrangers } from "./rows/sockets-kept.ts";
import { socketsHalfClosed } from "./rows/sockets-half-closed.ts";
import { socketsOfOneAddress, socketsSilent } from "./rows/sockets-silent.ts";
import { stopLameDuck } from "./rows/stop-lame-duck.ts";
import { unreadManyConnections } from "./rows/unread-many-connections.ts";
import { unreadModels } from "./rows/unread-models.ts";
import { unreadOneConnection } from "./rows/unread-one-connection.ts";
import { unreadStreams } from "./rows/unread-streams.ts";

/** All rows, in the order in which they run. */
export const rows: readonly Row[] = [
  unreadOneConnection,
  unreadManyConnections,
  unreadModels,
  unreadStreams,
  ...Object.values(bodies),
  bodySchemas,
  bodyTinyChunks,
  bodyTinyChunksUnread,
  bodyTinyChunksNeverRead,
  bodyChunkExtensions,
  bodyTrailers,
  bodyContinue,
  logFullDisk,
  logLongPaths,
  gateHungUpPrompts,
  gateManyPrompts,
  gateSpentRequests,
  gateUnfinishedBodies,
  gatePipelinedChats,
  queueOneKey,
  queueManyKeys,
  queueLongChoices,
  answersHuge,
  ledgerBackup,
  ledgerRestore,
  socketsSilent,
  socketsOfOneAddress,
  socketsOfStrangers,
  socketsOfAddresses,
  socketsOfProbes,
  socketsChurn,
  socketsHalfClosed,
  headsSlow,
  headsHuge,
  floodOptions,
  floodHead,
  floodWrongKeys,
  floodKeyIds,
  floodDocs,
  floodPipelined,
  moneyCallsAtOnce,
  keysDisabled,
  modelsBroken,
  ...Object.values(prompts),
  stopLameDuck,
  engineKilled,
  engineFrozen,
];

/**
 * One or two rows of each kind, because all rows would take the pipeline four minutes. Rows whose neighbour waits for seconds
 * even on a quiet machine run only in the long form.
 */
const shortNames = new Set([
  "unread/one-connection",
  "unread/streams",
  "body/at-its-bounds",
  "body/tiny-chunks",
  "log/full-disk",
  "gate/spent-requests",
  "queue/one-key",
  "answers/huge",
  "ledger/backup",
  "sockets/silent",
  "heads/huge",
  "money/calls-at-once",
  "keys/disabled",
  "models/one-broken",
  "stop/lame-duck",
  "engine/killed",
]);

/** The rows of the short form. */
export const shortRows: readonly Row[] = rows.filter(({ name }) => shortNames.has(name));

/** Finds the rows and groups with these names, in the order of the table. */
export const rowsNamed = (names: readonly string[]): readonly Row[] =>
  rows.filter(({ name }) => names.some((one) => name === one || name.startsWith(`${one}/`)));
