import type { ImportedKind, ImportedObject, UpstreamPerson } from '@rookery/contracts';
import type { OwnerOf } from '../../people/people';

/**
 * A list of an upstream host whose objects a stage imports. Shape: `T` is one object of it, as the source reads it.
 */
export interface ObjectList<K extends ImportedKind = ImportedKind, T = unknown> {
  readonly kind: K;
  /** Path and query below the address of the repository in the API. */
  readonly path: string;
  /**
   * Path of a list that belongs to an item and holds the objects in its place; null for an item without one. Default: the
   * items are the objects.
   */
  readonly membersOf?: (item: unknown) => string | null;
  /** Whether an item of the list is an object of this stage. Default: all are. */
  readonly includes?: (item: unknown) => boolean;
  /** Path of a request whose answer completes an item; null for an item that is complete. Default: all are. */
  readonly detailsOf?: (item: unknown) => string | null;
  /** Returns null for a malformed item. */
  read(item: unknown): T | null;
  /** Name of an object in failures. */
  nameOf(object: T): string;
  /** People whose accounts the object needs. */
  peopleOf(object: T): readonly UpstreamPerson[];
  /** Converts an object to its form in collaboration. */
  convert(object: T, ownerOf: OwnerOf): ImportedObject<K>;
}

/** Declares a list. The stage handles lists of all kinds alike. */
export function objectList<K extends ImportedKind, T>(declared: ObjectList<K, T>): ObjectList {
  return declared as unknown as ObjectList;
}
