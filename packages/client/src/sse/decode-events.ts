/**
 * Yields the data of each server-sent event. Skipped are other fields (name, id, retry time, unknown ones), comments, events
 * without data, and a last event without an empty line after it.
 */
export async function* decodeEvents(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let data: string[] = [];
  for await (const line of lines) {
    const [isData, value = ""] = /^data(?:: ?([^]*))?$/.exec(line) ?? [];
    if (isData !== undefined) data.push(value);
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
}
