import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";
import { openLists, openListsRemark } from "./open-lists.ts";

export const ruby: readonly Tool[] = [
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
    remarks: `\`ruby -wc\` without a warning. The client builds a stream's request, and the program reads its answer. ${openListsRemark}`,
  },
];
