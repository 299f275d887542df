import type { ModelConfig } from "./read-models.ts";
import { countEdits } from "./suggest.ts";

/** The names of a model. */
type Named = Pick<ModelConfig, "id" | "aliases" | "shortName">;

/** Finds a model by its id, by an alias, or by a short name that only one of these models has. */
export function findModel<M extends Named>(models: readonly M[], name: string): M | undefined {
  const exact = models.find(({ id, aliases }) => id === name || aliases.includes(name));
  if (exact) return exact;
  const [only, second] = models.filter(({ shortName }) => shortName === name);
  return second === undefined ? only : undefined;
}

/**
 * Returns a sentence that suggests the ids nearest to an unknown name; empty if there are no models. It suggests several
 * ids if they differ only in their vendor prefix.
 */
export function suggestIds(models: readonly Named[], name: string): string {
  const asked = name.slice(0, 100).toLowerCase();
  const distances = models.map((model) => distanceTo(model, asked));
  const least = Math.min(...distances);
  const nearest = models.filter((_model, index) => distances[index] === least).map(({ id }) => id);
  const meant = nearest.slice(0, least === 0 ? 3 : 1).map((id) => JSON.stringify(id));
  return meant.length === 0 ? "" : `Did you mean ${either.format(meant)}?`;
}

const either = new Intl.ListFormat("en", { type: "disjunction" });

/** Returns the edit distance between a lower-case name and the nearest name of a model, with or without a vendor prefix. */
function distanceTo({ id, aliases }: Named, asked: string): number {
  const whole = [id, ...aliases].map((name) => countEdits(asked, name.toLowerCase()));
  return Math.min(...whole, countEdits(lastPart(asked), lastPart(id.toLowerCase())));
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** Returns a sentence for the operator for each short name that does not identify one model. */
export function explainSharedNames(models: readonly Named[]): string[] {
  const names = new Set(models.flatMap(({ shortName }) => shortName ?? []));
  return Array.from(names).flatMap((name) => {
    const sharing = models.filter(({ shortName }) => shortName === name).map(({ id }) => id);
    const owner = models.find(({ id, aliases }) => id === name || aliases.includes(name));
    const others = sharing.filter((id) => id !== owner?.id);
    if (owner) return others.map((id) => `${name} means ${owner.id}. Callers ask for ${id} by its whole id.`);
    if (sharing.length < 2) return [];
    const ids = new Intl.ListFormat("en").format(sharing);
    return [`${name} could mean ${ids}. A key that may use more than one of them has to send the whole id.`];
  });
}
