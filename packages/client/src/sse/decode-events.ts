/**
 * The data of each server-sent event. The other fields (name, id, retry time, unknown ones) and comments are passed over,
 * and so is an event without data, or one that no empty line ends.
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
