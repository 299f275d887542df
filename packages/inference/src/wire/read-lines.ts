/**
 * The non-empty lines of a byte stream, however the bytes are cut. A last line without its end is given as well.
 * @param longest a line of more characters is given in pieces, so that noise without line breaks takes no memory
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  longest = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
    if (rest.length <= longest) continue;
    yield rest;
    rest = "";
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
