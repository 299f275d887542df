import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";
import { openLists, openListsRemark } from "./open-lists.ts";

export const php: readonly Tool[] = [
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
    remarks: `\`php -l\`, and \`strict_types\` in the program. The class of a union is empty: give the value itself. The client builds a stream's request, and the program reads its answer. ${openListsRemark}`,
  },
];
