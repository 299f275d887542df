import { readdir } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { valueAt, objectsIn, operationsOf } from "@parley/contract/document";
import type { Document } from "@parley/contract/document";
import { bundle, contractFolder, readText } from "./checks/redocly.ts";

interface Clause {
  id: string;
  keyword: string;
  level: string;
  sentence: string;
  why: string;
  comply: string;
  pointer: string;
  since: string;
  model: string;
  faults: string[];
  openai?: string;
}

const chapters = "HTTP AUTH MODL REQ MSG RESP SAMP STRM TOOL FMT LOGP ERR LIM OPS ACCT IDEM".split(" ");
const mention = new RegExp(`\\b(?:${chapters.join("|")})-\\d+`, "g");

let document: Document;
let clauses: Clause[];

beforeAll(async () => {
  document = await bundle();
  clauses = parse(await readText("clauses.yaml"));
});

const levels = "core stream sampling tools structured logprobs limits ops account idempotency".split(" ");
const models = "any greedy guided scripted".split(" ");
const isShortName = (fault: string) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(fault);

/** Returns the ids of the clauses for which `isWrong` is true. */
const idsOf = (isWrong: (clause: Clause) => boolean) => clauses.filter(isWrong).map(({ id }) => id);

describe("a clause", () => {
  test("has an id of its own, in the order of the chapters", () => {
    const ids = clauses.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const places = ids.map((id) => {
      const [chapter, number] = id.split("-");
      return chapters.indexOf(String(chapter)) * 1000 + Number(number);
    });
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(ids.filter((id) => !/^[A-Z]+-\d{2,3}$/.test(id))).toEqual([]);
  });

  test("is in the ranges of the texts, which end with the last clause of a chapter", () => {
    const ranges = [
      ...JSON.stringify(document)
        .replaceAll("\\n", " ")
        .matchAll(/\b([A-Z]+)-(\d+) to \1-(\d+)/g),
    ];
    for (const chapter of new Set(ranges.filter(([, , first]) => first === "01").map(([, name]) => name))) {
      const ends = ranges.filter(([, name]) => name === chapter).map(([, , , end]) => `${chapter}-${end}`);
      expect(ends).toContain(clauses.findLast(({ id }) => id.startsWith(`${chapter}-`))?.id);
    }
  });

  test("has the members that the conformance suite reads, and no other", () => {
    const members = /^id,keyword,level,sentence,why,comply,pointer,since,model,faults(,openai)?$/;
    expect(idsOf((clause) => !members.test(Object.keys(clause).join()))).toEqual([]);
    expect(idsOf(({ keyword }) => !["MUST", "SHOULD"].includes(keyword))).toEqual([]);
    expect(idsOf(({ level }) => !levels.includes(level))).toEqual([]);
    expect(idsOf(({ model }) => !models.includes(model))).toEqual([]);
    expect(idsOf(({ since }) => !/^\d+\.\d+$/.test(since))).toEqual([]);
    expect(idsOf(({ faults }) => faults.length === 0 || !faults.every(isShortName))).toEqual([]);
  });

  test("is one sentence with its keyword, once", () => {
    const keywordsIn = (sentence: string) => sentence.match(/\b(?:MUST|SHOULD|MAY|SHALL)\b/g)?.join();
    expect(idsOf(({ keyword, sentence }) => keywordsIn(sentence) !== keyword)).toEqual([]);
    expect(idsOf(({ sentence }) => !/^\S.*\.$/.test(sentence))).toEqual([]);
  });

  test("has a reason and a way to comply of its own, neither of which is said of another, or is the sentence again", () => {
    const said = clauses.flatMap(({ why, comply, openai = [] }) => [why, comply].concat(openai));
    expect(said.filter((text, index) => said.indexOf(text) !== index)).toEqual([]);
    expect(said.filter((text) => !/^\S.{14,}\.$/.test(text) || /\b(?:MUST|SHOULD)\b/.test(text))).toEqual([]);
    expect(idsOf(({ why, comply, sentence }) => [why, comply].includes(sentence))).toEqual([]);
  });

  test("points at a part of the contract", () => {
    expect(idsOf(({ pointer }) => valueAt(document, pointer) === undefined)).toEqual([]);
  });

  test("has faults that no other clause has, so that each trips one check", () => {
    const faults = clauses.flatMap((clause) => clause.faults);
    expect(faults.filter((fault, index) => faults.indexOf(fault) !== index)).toEqual([]);
  });
});

describe("a text of the contract", () => {
  test("names only clauses that exist", async () => {
    const known = new Set(clauses.map(({ id }) => id));
    const files = await readdir(contractFolder, { recursive: true });
    const texts = await Promise.all(files.filter((name) => /\.(yaml|md)$/.test(name)).map(readText));
    const named = texts.flatMap((text) => text.match(mention) ?? []);
    expect(named.length).toBeGreaterThan(clauses.length);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });

  test("of an operation refers to the chapters that it is judged by", () => {
    const chaptersOf = (text: string) =>
      [...new Set(text.match(mention)?.map((id) => id.replace(/-.*/, "")))].toSorted();
    const named = operationsOf(document).map(({ operationId, description }) => [operationId, chaptersOf(description)]);
    expect(Object.fromEntries(named)).toEqual({
      createChatCompletion: chapters.filter((chapter) => !["MODL", "ACCT"].includes(chapter)).toSorted(),
      listModels: ["AUTH", "ERR", "MODL"],
      retrieveModel: ["AUTH", "ERR", "MODL"],
      retrieveKey: ["ACCT", "AUTH", "ERR"],
      retrieveReceipt: ["ACCT", "AUTH", "ERR"],
    });
  });

  test("in the state machine refers to a clause at every transition and invariant", () => {
    const known = new Set(clauses.map(({ id }) => id));
    const named = [...objectsIn(document["x-streams"])].filter(({ id }) => typeof id === "string");
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(({ clause }) => !known.has(String(clause)))).toEqual([]);
  });
});
