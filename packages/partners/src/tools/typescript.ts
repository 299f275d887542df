import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";
import { openLists, openListsRemark } from "./open-lists.ts";

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
    name: "orval",
    title: "orval",
    version: "8.38.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx orval"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks: "The program sends a stream's request itself, since the client reads whole answers.",
  },
  {
    name: "swagger-typescript-api",
    title: "swagger-typescript-api",
    version: "13.13.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx swagger-typescript-api generate -p openapi.json -o . -n parley.ts"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks: "",
  },
  {
    name: "kubb",
    title: "kubb",
    version: "4.39.3",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx kubb generate"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks:
      "The program brings its own function to send requests, because that of the tool returns an error as if it were an answer.",
  },
  {
    name: "openapi-zod-client",
    title: "openapi-zod-client, zodios",
    version: "1.18.3",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm", "jq"],
    generate: [openLists, npm, "npx openapi-zod-client openapi.json -o parley.ts --export-schemas"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks: openListsRemark,
  },
  {
    name: "openapi-generator-typescript-axios",
    title: "openapi-generator, typescript-axios",
    version: openapiGenerator.version,
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm", "java", "mvn"],
    generate: [
      npm,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g typescript-axios -i openapi.json -o parley",
    ],
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
      "java -jar openapi-generator-cli.jar generate -g typescript-fetch -i openapi.json -o parley --additional-properties=withoutRuntimeChecks=true,modelPropertyNaming=original --name-mappings function=function",
    ],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks:
      "Set `withoutRuntimeChecks=true`, because the checks that it generates do not compile under `strict`. Keep the names of the document.",
    limits: [
      {
        commands: [
          "java -jar openapi-generator-cli.jar generate -g typescript-fetch -i limit.json -o limit",
          "npx tsc --noEmit --strict --target es2024 --module preserve limit/index.ts",
        ],
        prints: "TS7053",
      },
    ],
  },
];
