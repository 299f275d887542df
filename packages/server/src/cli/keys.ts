import type { Command } from "commander";
import type { NewKey } from "../auth/hash-key.ts";
import { createKey, rotateKey } from "../auth/issue-key.ts";
import type { KeyRules, StoredKey } from "../auth/key-store.ts";
import type { Config } from "../config/read-config.ts";
import type { UsageLedger } from "../metering/usage-ledger.ts";
import { openState } from "../state/open-state.ts";
import { deliverKey } from "./deliver-key.ts";
import { readDate, readList, readUsd, readWhole } from "./read-argument.ts";
import { addDataFlags, dataSettingsOf } from "./settings.ts";
import { toTable } from "./table.ts";

interface CreateFlags {
  readonly name: string;
  readonly models?: readonly string[];
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrency?: number;
  readonly budgetUsd?: string;
  readonly expires?: number;
}

export function addKeysCommand(program: Command): void {
  const keys = program
    .command("keys")
    .description("make, list, disable and renew API keys; a running server sees a change at once");
  addDataFlags(keys.command("create").description("make a key and show it once"))
    .requiredOption("--name <name>", "what to call it")
    .option("--models <ids>", "models it may use, by id or alias, separated by commas (default: all)", readList)
    .option("--requests-per-minute <n>", "its own limit of requests", readWhole)
    .option("--tokens-per-minute <n>", "its own limit of tokens", readWhole)
    .option("--concurrency <n>", "requests at the same time", readWhole)
    .option("--budget-usd <amount>", "what it may spend in all, in US dollars", readUsd)
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)", readDate)
    .action((flags: CreateFlags, command: Command) => create(flags, dataSettingsOf(command)));
  addDataFlags(keys.command("list").description("list keys, never with their secrets"))
    .option("--json", "as JSON")
    .action((flags: { json?: boolean }, command: Command) => list(dataSettingsOf(command), flags.json === true));
  addDataFlags(keys.command("disable").description("refuse a key from now on").argument("<id>")).action(
    (id: string, _flags, command: Command) => disable(id, dataSettingsOf(command)),
  );
  addDataFlags(
    keys
      .command("rotate")
      .description("give a key another secret and show it once; the old one stops working")
      .argument("<id>"),
  ).action((id: string, _flags, command: Command) => rotate(id, dataSettingsOf(command)));
}

async function create(flags: CreateFlags, config: Config): Promise<void> {
  const models = flags.models?.map((name) => idOf(name, config));
  const { name, requestsPerMinute, tokensPerMinute, concurrency, budgetUsd, expires: expiresMs } = flags;
  const rules: KeyRules = { name, models, requestsPerMinute, tokensPerMinute, concurrency, budgetUsd, expiresMs };
  using state = openState(config.dataDir);
  show(await createKey(state.keys, rules, Date.now()), config);
}

/** A key is for models, whatever they are called: it keeps their ids. */
function idOf(name: string, { models }: Config): string {
  const model = models.find(({ id, aliases }) => id === name || aliases.includes(name));
  const offered = new Intl.ListFormat("en").format(models.map(({ id }) => id));
  if (!model) throw new Error(`There is no model ${name}. There are ${offered}.`);
  return model.id;
}

/** A key as it may be shown: never with its secret, nor the hash of it. */
type KeyListing = Omit<StoredKey, "hash"> & { readonly spentUsd: string };

async function list(config: Config, isJson: boolean): Promise<void> {
  using state = openState(config.dataDir);
  const keys = await Promise.all((await state.keys.list()).map((key) => toListing(key, state.ledger)));
  const header = [
    "id",
    "name",
    "state",
    "created",
    "expires",
    "models",
    "requests/min",
    "tokens/min",
    "concurrency",
    "budget",
    "spent",
  ];
  process.stdout.write(isJson ? `${JSON.stringify(keys, undefined, 2)}\n` : toTable(header, keys.map(toRow)));
}

async function toListing({ hash: _hash, ...key }: StoredKey, ledger: UsageLedger): Promise<KeyListing> {
  return { ...key, spentUsd: await ledger.spentUsd(key.id) };
}

async function disable(id: string, config: Config): Promise<void> {
  using state = openState(config.dataDir);
  if (!(await state.keys.disable(id, Date.now()))) throw noSuchKey(id);
  process.stdout.write(`${id} is disabled.\n`);
}

async function rotate(id: string, config: Config): Promise<void> {
  using state = openState(config.dataDir);
  const key = await rotateKey(state.keys, id);
  if (!key) throw noSuchKey(id);
  show(key, config);
}

const noSuchKey = (id: string): Error => new Error(`There is no key ${id}. "keys list" shows the ids.`);

function show(key: NewKey, config: Config): void {
  process.stdout.write(`id   ${key.id}\nkey  ${deliverKey(key, config.dataDir, process.stdout.isTTY).text}\n`);
}

const day = (ms: number | undefined): string => (ms === undefined ? "-" : new Date(ms).toISOString().slice(0, 16));
const or = (value: number | string | undefined): string => (value === undefined ? "-" : String(value));

function toRow(key: KeyListing): string[] {
  const isExpired = key.expiresMs !== undefined && key.expiresMs <= Date.now();
  const state = key.disabledMs !== undefined ? "disabled" : isExpired ? "expired" : "active";
  const limits = [or(key.requestsPerMinute), or(key.tokensPerMinute), or(key.concurrency), or(key.budgetUsd)];
  return [
    key.id,
    key.name,
    state,
    day(key.createdMs),
    day(key.expiresMs),
    key.models?.join(",") ?? "all",
    ...limits,
    key.spentUsd,
  ];
}
