import { bareNode, direct, express, libraries } from "./copiers.ts";
import { nginx } from "./nginx.ts";
import { otherSubjects } from "./others.ts";
import { parleySubjects } from "./parley.ts";
import { replicas } from "./replicas.ts";
import type { SubjectKind } from "./subject.ts";

/** All subjects, in the order of the tables' columns. */
export const subjectKinds: readonly SubjectKind[] = [
  direct,
  nginx,
  bareNode,
  libraries,
  ...otherSubjects,
  express,
  ...parleySubjects,
  replicas,
];
