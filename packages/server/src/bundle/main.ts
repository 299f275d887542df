import { stripVTControlCharacters } from "node:util";

// Writes the bundle. `launch.mjs` runs this before a start, and the image build runs it once. If it fails, the server
// starts from its sources.

try {
  const { writeBundle } = await import("./write-bundle.ts");
  await writeBundle();
} catch (error) {
  // The bundler's error message has a heading, and the position below it.
  const lines = (error instanceof Error ? error.message : String(error)).split("\n");
  const reason = stripVTControlCharacters(
    lines
      .filter((line) => line.trim() !== "")
      .slice(0, 2)
      .join(" "),
  );
  process.stderr.write(`parley: The server could not be put into a few files, so it starts more slowly: ${reason}\n`);
  process.exitCode = 1;
}
