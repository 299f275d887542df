/** 10 000 members that the contract does not know, as JSON text. */
export const manyUnknownMembers = Array.from({ length: 10_000 }, (_, index) => `"unknown${index}":0`).join(",");
