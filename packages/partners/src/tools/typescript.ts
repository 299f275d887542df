import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";

const npm = "npm install --no-audit --no-fund --loglevel=error";
/** With `strict`, see the tsconfig.json of each program. */
const tsc = "npx tsc -p .";

export const typescript: readonly Tool[] = [
  {
    name: "openapi-fetch",
    title: "openapi-typescript, openapi-fetch",
    version: "7.13.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx openapi-typescript openapi.json -o parley.ts"],
    compile: [tsc],
    run: "node dist/main.js",
    remarks: "",
  },
  {
    name: "hey-api",
    title: "@hey-api/openapi-ts",
    version: "0.99.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx openapi-ts -i openapi.json -o parley"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks: "",
  },
  {
    name: "openapi-generator-typescript-fetch",
    title: "openapi-generator, typescript-fetch",
    version: openapiGenerator.version,
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm", "java", "mvn"],
    generate: [
      npm,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g typescript-fetch -i openapi.json -o parley",
    ],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks:
      "The tool's cause: where a schema requires a member with an underscore, such as `request_id`, its `instanceOf…` function fails with TS7053 under `strict`. README.md of the program has a minimal document.",
  },
];
