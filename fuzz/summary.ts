import { membersOfRequest, shareOf } from "./depth.ts";
import type { Failure, Tally } from "./record.ts";

const percent = (part: number, whole: number): string => `${(shareOf(part, whole) * 100).toFixed(1)} %`;

/** Summarises the counts in a few lines. */
export function summarize(tally: Tally): string {
  const { answers, chats, chatsTaken, streamed, taken, refused, failures, slowestMs } = tally;
  const members = membersOfRequest();
  const seen = (counts: ReadonlyMap<string, number>): number => members.filter((one) => counts.has(one)).length;
  const least = (counts: ReadonlyMap<string, number>): string => {
    const [name, count] =
      members.map((one) => [one, counts.get(one) ?? 0] as const).toSorted((a, b) => a[1] - b[1])[0] ?? [];
    return `least often ${name}, ${count} times`;
  };
  return [
    `answers    ${answers}, of them ${chats} of createChatCompletion; the slowest took ${(slowestMs / 1000).toFixed(1)} s`,
    `taken      ${chatsTaken} (${percent(chatsTaken, chats)}), of them streamed ${streamed} (${percent(streamed, chatsTaken)})`,
    `members    ${members.length}: ${seen(taken)} taken (${least(taken)}), ${seen(refused)} refused (${least(refused)})`,
    `statuses   ${[...tally.statuses]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, count]) => `${name}: ${count}`)
      .join(", ")}`,
    `failures   ${failures.length}`,
    ...groupFailures(failures),
  ].join("\n");
}

/** Groups failures by check and kind of message, each with the first request that caused it. */
function groupFailures(failures: readonly Failure[]): string[] {
  const groups = Map.groupBy(failures, ({ failure }) => `${failure.check}: ${failure.message.replaceAll(/\d+/g, "#")}`);
  return [...groups.values()].map((group) => {
    const [{ failure, request, operation, status } = group[0] as Failure] = group;
    const shown = `${request.method} ${request.path} ${JSON.stringify(request.headers)} ${request.body.slice(0, 1000)}`;
    return `FAIL ${failure.check} (${group.length} times): ${failure.message}\n     ${operation} answered ${status} to ${shown}`;
  });
}
