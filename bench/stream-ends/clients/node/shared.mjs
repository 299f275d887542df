import { setTimeout as wait } from "node:timers/promises";

// A client is called with URLs, and prints one JSON line for each: the text that it gave, and how it says it ended.
export const model = "vendor/model-1";
export const messages = [{ role: "user", content: "x" }];

export async function each(read) {
  for (const url of process.argv.slice(2)) {
    const found = { url, text: "", ended: "whole" };
    const say = async (text) => {
      found.text += text;
      if (url.includes("/slow/")) await wait(10);
    };
    try {
      const ended = await read(url, say);
      if (ended !== undefined) found.ended = ended;
    } catch (error) {
      found.ended = describe(error);
    }
    console.log(JSON.stringify(found));
  }
  process.exit(0);
}

export const describe = (error) => {
  const cause = error?.cause?.message ?? error?.cause?.code;
  return `${error?.name}: ${error?.message}${cause === undefined ? "" : ` (${cause})`}`;
};
process.on("unhandledRejection", (error) => console.error("unhandled", describe(error)));
