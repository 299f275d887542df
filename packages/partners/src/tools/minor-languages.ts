import type { Tool } from "../tool.ts";
import { openLists, openListsRemark } from "./open-lists.ts";
import { openapiGenerator } from "./openapi-generator.ts";

/** Keeps the compiled dependencies, which the clients share, for the next run. */
const cargo = "CARGO_TARGET_DIR=../cargo cargo";

/** Rust, Ruby and PHP, with one or two tools each. */
export const minorLanguages: readonly Tool[] = [
  {
    name: "progenitor",
    title: "progenitor, eventsource-stream",
    version: "0.15.1",
    language: "Rust",
    document: "openapi-3.0.json",
    needs: ["cargo", "jq"],
    // The library is a macro that generates the client.
    generate: [openLists, `${cargo} build -q --lib`],
    compile: [`${cargo} build -q`],
    run: "../cargo/debug/parley-progenitor",
    remarks: `It compiles with \`deny(warnings)\`. It reads OpenAPI 3.0 only. The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
  {
    name: "openapi-generator-rust",
    title: "openapi-generator, rust, eventsource-stream",
    version: openapiGenerator.version,
    language: "Rust",
    document: "openapi.json",
    needs: ["cargo", "jq", "java", "mvn"],
    generate: [
      openLists,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g rust -i openapi.json -o parley --additional-properties=packageName=parley",
    ],
    compile: [`${cargo} build -q`],
    run: "../cargo/debug/parley-openapi-generator",
    remarks: `It compiles with \`deny(warnings)\`. The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
  {
    name: "openapi-generator-ruby",
    title: "openapi-generator, ruby",
    version: openapiGenerator.version,
    language: "Ruby",
    document: "openapi.json",
    needs: ["ruby", "jq", "java", "mvn"],
    generate: [
      openLists,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g ruby -i openapi.json -o parley --additional-properties=gemName=parley,moduleName=Parley",
    ],
    // A warning counts as a failure.
    compile: ["! find main.rb parley/lib -name '*.rb' -exec ruby -wc {} \\; 2>&1 | grep -v '^Syntax OK$'"],
    run: "ruby -I parley/lib main.rb",
    remarks: `\`ruby -wc\` finds nothing. The client builds a stream's request, and the program reads its answer. ${openListsRemark}`,
  },
  {
    name: "openapi-generator-php",
    title: "openapi-generator, php",
    version: openapiGenerator.version,
    language: "PHP",
    document: "openapi.json",
    needs: ["php", "jq", "java", "mvn"],
    generate: [
      openLists,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g php -i openapi.json -o parley --additional-properties=invokerPackage=Parley",
    ],
    compile: [
      "! find main.php parley/lib -name '*.php' -exec php -l {} \\; 2>&1 | grep -v '^No syntax errors detected'",
    ],
    run: "php main.php",
    remarks: `\`php -l\` passes, and the program declares \`strict_types\`. The class of a union is empty: give the value itself. The client builds a stream's request, and the program reads its answer. ${openListsRemark}`,
  },
];
