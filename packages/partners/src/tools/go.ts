import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";

export const go: readonly Tool[] = [
  {
    name: "oapi-codegen",
    title: "oapi-codegen",
    version: "2.8.2",
    language: "Go",
    document: "openapi.json",
    needs: ["go"],
    generate: [
      "go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v$VERSION -generate types,client -package main -o parley.go openapi.json",
    ],
    compile: ["go vet .", "go build -o program ."],
    run: "./program",
    remarks: "",
  },
  {
    name: "openapi-generator-go",
    title: "openapi-generator, go",
    version: openapiGenerator.version,
    language: "Go",
    document: "openapi.json",
    needs: ["go", "java", "mvn"],
    generate: [
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g go -i openapi.json -o parley --additional-properties=withGoMod=false,packageName=parley,enumClassPrefix=true,enumUnknownDefaultCase=true",
      // The generated tests import a module whose name is only a placeholder.
      "rm -r parley/test",
    ],
    compile: ["go vet ./...", "go build -o program ."],
    run: "./program",
    remarks:
      "It needs `enumClassPrefix=true`, because two lists of the contract share the value `insufficient_quota`, and `enumUnknownDefaultCase=true` for new values. The program sends a stream's request itself, since the client reads whole answers.",
  },
  {
    name: "ogen",
    title: "ogen",
    version: "1.24.0",
    language: "Go",
    document: "openapi-3.0.json",
    needs: ["go"],
    generate: [
      "go run ./prepare",
      "go run github.com/ogen-go/ogen/cmd/ogen@v$VERSION --target parley --package parley --config ogen.yml prepared.json",
    ],
    compile: ["go vet ./...", "go build -o program ."],
    run: "./program",
    remarks:
      "Its Go for a stream whose answer has headers does not compile, and its client refuses new values: `prepare` leaves these headers and the lists that may grow out of the document. Its reader of streams takes `[DONE]` for a broken event: the program sends a stream's request itself, and reads it with the tool's decoder of events.",
    limits: [
      {
        commands: [
          "go run github.com/ogen-go/ogen/cmd/ogen@v$VERSION --target limit --package limit --config ogen.yml limit.json",
          "go vet ./limit",
        ],
        prints: "initSSEStream undefined",
      },
    ],
  },
];
