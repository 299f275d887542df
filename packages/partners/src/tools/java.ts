import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";

const { version } = openapiGenerator;
const mvn = "mvn -q -B -Dopenapi-generator.version=$VERSION";

export const java: readonly Tool[] = [
  {
    name: "openapi-generator-java-native",
    title: "openapi-generator, java with native",
    version,
    language: "Java",
    document: "openapi.json",
    needs: ["java", "mvn"],
    generate: [`${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.Main",
    remarks:
      "`-Xlint:all -Werror`, but for uses of deprecated methods and for serial numbers that the tool leaves out. Needs `generateAliasAsModel`: a union with an array in it compiles only where the array has a class. The program sends a stream's request itself, since the client reads whole answers.",
  },
  {
    name: "openapi-generator-java-okhttp",
    title: "openapi-generator, java with okhttp-gson, okhttp-sse",
    version,
    language: "Java",
    document: "openapi.json",
    needs: ["java", "mvn"],
    generate: [`${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.Main",
    remarks:
      "`-Xlint:all -Werror`, but for the raw types that the tool generates. Needs okhttp 5 to read a stream in place.",
  },
];
