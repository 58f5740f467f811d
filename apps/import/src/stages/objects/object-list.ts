import type { ImportedKind, ImportedObject, UpstreamPerson } from '@rookery/contracts';
import type { OwnerOf } from '../../people/people';

/** How a stage writes objects of a kind. `T` is one object, as the source reads it. */
export interface ObjectForm<K extends ImportedKind = ImportedKind, T = unknown> {
  readonly kind: K;
  /** Whether objects have a text `body`, whose attachments are imported if the user wants them. */
  readonly hasBody?: true;
  /** Name of an object in failures. */
  nameOf(object: T): string;
  /** People whose accounts the object needs. */
  peopleOf(object: T): readonly UpstreamPerson[];
  /** Converts an object to its form in collaboration. */
  convert(object: T, ownerOf: OwnerOf): ImportedObject<K>;
}

/** A list of an upstream host whose objects a stage imports. */
export interface ObjectList<K extends ImportedKind = ImportedKind, T = unknown> extends ObjectForm<K, T> {
  /** Name of the stage, if objects of the kind are in several lists. Default: the kind. */
  readonly stage?: string;
  /** Path and query below the address of the repository in the API. */
  readonly path: string;
  /**
   * Path of a list that belongs to an item and holds the objects in its place; null for an item without one. Default: the
   * items are the objects.
   */
  readonly membersOf?: (item: unknown) => string | null;
  /** Objects to import instead of a member of the list of `item`. Default: the member itself. */
  readonly partsOf?: (member: unknown, item: unknown) => readonly unknown[];
  /** Whether lists of members begin with the newest one. */
  readonly areMembersNewestFirst?: boolean;
  /** Whether an item of the list is an object of this stage. Default: all are. */
  readonly includes?: (item: unknown) => boolean;
  /** Path of a request whose answer completes an item; null for an item that is complete. Default: all are. */
  readonly detailsOf?: (item: unknown) => string | null;
  /** Returns null for a malformed item. */
  read(item: unknown): T | null;
}

/** Declares a list. The stage handles lists of all kinds alike. */
export function defineObjectList<K extends ImportedKind, T>(declared: ObjectList<K, T>): ObjectList {
  return declared as unknown as ObjectList;
}
