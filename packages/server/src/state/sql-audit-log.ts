import type { AuditEntry, AuditLog, AuditRecord, AuditSelection } from "../accounts/audit/audit-log.ts";
import type { Row, Sql } from "./sql.ts";

export const auditColumns = [
  "id",
  "at_ms",
  "actor_kind",
  "actor_id",
  "actor_name",
  "address",
  "agent",
  "action",
  "target_id",
  "target_name",
  "group_id",
  "outcome",
  "reason",
  "attempts",
  "before_json",
  "after_json",
  "prunes_before_ms",
] as const;

/** The audit log in SQLite or PostgreSQL. */
export class SqlAuditLog implements AuditLog {
  readonly #sql: Sql;
  readonly #table: string;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#table = sql.table("audit");
  }

  async append(record: AuditRecord, prunesBeforeMs?: number): Promise<void> {
    const { atMs, actor, from, action, target, outcome, reason, attempts, before, after } = record;
    const values = [atMs, actor.kind, actor.id, actor.name, from.address, from.agent, action];
    const more = [target.id, target.name, target.groupId, outcome, reason, attempts];
    const states = [before && JSON.stringify(before), after && JSON.stringify(after), prunesBeforeMs];
    // The largest id is never deleted: a pruning leaves its own entry.
    const [{ last } = { last: 0 }] = await this.#sql.rows(`SELECT max(id) AS last FROM ${this.#table}`, []);
    const all = [Number(last ?? 0) + 1, ...values, ...more, ...states].map((value) => value ?? null);
    const places = auditColumns.map(() => "?").join(", ");
    await this.#sql.change(`INSERT INTO ${this.#table} (${auditColumns.join(", ")}) VALUES (${places})`, all);
  }

  async read(selection: AuditSelection, limit: number, beforeId?: number): Promise<AuditEntry[]> {
    const { conditions, values } = conditionsOf(selection);
    if (beforeId !== undefined) {
      conditions.push("id < ?");
      values.push(beforeId);
    }
    const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
    const statement = `SELECT * FROM ${this.#table} ${where} ORDER BY id DESC LIMIT ?`;
    return (await this.#sql.rows(statement, [...values, limit])).map(toEntry);
  }

  async countBefore(atMs: number): Promise<number> {
    const [row] = await this.#sql.rows(`SELECT count(*) AS entries FROM ${this.#table} WHERE at_ms < ?`, [atMs]);
    return Number(row?.["entries"]);
  }

  async deleteBefore(atMs: number): Promise<void> {
    await this.#sql.change(`DELETE FROM ${this.#table} WHERE at_ms < ?`, [atMs]);
  }
}

function conditionsOf({ sinceMs, untilMs, action, outcome, actor, targetId, within }: AuditSelection): {
  readonly conditions: string[];
  readonly values: (string | number)[];
} {
  const groups = within?.groupIds.map(() => "?").join(", ");
  const given: readonly (readonly [condition: string, values: readonly (string | number)[] | undefined])[] = [
    ["at_ms >= ?", sinceMs === undefined ? undefined : [sinceMs]],
    ["at_ms < ?", untilMs === undefined ? undefined : [untilMs]],
    ["action = ?", action === undefined ? undefined : [action]],
    ["outcome = ?", outcome === undefined ? undefined : [outcome]],
    ["(actor_id = ? OR actor_name = ?)", actor === undefined ? undefined : [actor, actor]],
    ["target_id = ?", targetId === undefined ? undefined : [targetId]],
    [`(group_id IN (${groups}) OR actor_id = ?)`, within && [...within.groupIds, within.adminKeyId]],
  ];
  const used = given.filter(([, values]) => values !== undefined);
  return {
    conditions: used.map(([condition]) => condition),
    values: used.flatMap(([, values]) => values ?? []),
  };
}

const optional = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const stateOf = (value: unknown): object | undefined =>
  typeof value === "string" ? (JSON.parse(value) as object) : undefined; // written by `append`

const toEntry = (row: Row): AuditEntry => ({
  id: Number(row["id"]),
  atMs: Number(row["at_ms"]),
  actor: {
    kind: row["actor_kind"] as AuditRecord["actor"]["kind"], // written by `append`
    id: optional(row["actor_id"]),
    name: String(row["actor_name"]),
  },
  from: { address: String(row["address"]), agent: String(row["agent"]) },
  action: String(row["action"]),
  target: {
    id: optional(row["target_id"]),
    name: optional(row["target_name"]),
    groupId: optional(row["group_id"]),
  },
  outcome: row["outcome"] === "done" ? "done" : "refused",
  reason: optional(row["reason"]),
  attempts: Number(row["attempts"]),
  before: stateOf(row["before_json"]),
  after: stateOf(row["after_json"]),
});
