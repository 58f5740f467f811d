import type { ProjectFacts } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { perKind } from './noteable-kinds';
import type { Feature, NoteableKind, ProjectFeature } from './noteable-kinds';

const FEATURES = {
  issues: 'issuesAccessLevel',
  merge_requests: 'mergeRequestsAccessLevel',
  snippets: 'snippetsAccessLevel',
} as const satisfies Record<ProjectFeature, keyof ProjectFacts>;

/**
 * What must be known of the parent and of the viewer in it. Shape: any ProjectScope or GroupScope; a group is never
 * archived and has nothing that could be switched off.
 */
export type ParentFacts = Pick<ProjectFacts, 'id' | 'fullPath' | 'visibility'> &
  Partial<Pick<ProjectFacts, 'archived' | (typeof FEATURES)[ProjectFeature]>> & {
    readonly level: number;
    readonly namespace?: { readonly traversalIds: readonly number[] };
    readonly traversalIds?: readonly number[];
  };

/** Ids of the groups above a project, or of a group and those above it. Shape: from the root down. */
export function aboveOf({ namespace, traversalIds = [] }: ParentFacts): readonly number[] {
  return namespace?.traversalIds ?? traversalIds;
}

/** The thing that a path names in a project or group. */
export interface NamedNoteable {
  readonly kind: NoteableKind;
  readonly parent: ParentFacts;
  /** The column that the path names it by. */
  readonly by: 'id' | 'iid';
  readonly named: number;
}

/** One thing for each kind and way of naming, made when it is first asked for. */
export function perNaming<T>(
  make: (kind: NoteableKind, by: NamedNoteable['by']) => T,
): (on: Pick<NamedNoteable, 'kind' | 'by'>) => T {
  const made = { id: perKind((kind) => make(kind, 'id')), iid: perKind((kind) => make(kind, 'iid')) };
  return ({ kind, by }) => made[by](kind);
}

/** What a viewer may read in one project or group, decided once and handed to SQL as plain values. */
export interface Reader {
  readonly viewerId: number | null;
  readonly isAdmin: boolean;
  readonly isMember: boolean;
  readonly readsConfidential: boolean;
  readonly readsInternal: boolean;
}

/**
 * Reading rules of what is talked about in a project or group and of its notes: confidential things from planner on (author with
 * a role and assignees besides, which SQL adds), internal notes from reporter on.
 * Source: reference work-tracking 2.3, 2.4, 9.1.
 */
export function readerOf(viewer: Viewer, { level }: ParentFacts): Reader {
  return {
    viewerId: viewer.userId,
    isAdmin: viewer.isAdmin,
    isMember: viewer.isAdmin || level >= ACCESS_LEVELS.guest,
    readsConfidential: viewer.isAdmin || level >= ACCESS_LEVELS.planner,
    readsInternal: viewer.isAdmin || level >= ACCESS_LEVELS.reporter,
  };
}

/** False when the feature is switched off, or shown to members only and the reader is none. Plans are asked by the routes. */
export function reads(feature: Feature, parent: ParentFacts, { isMember }: Reader): boolean {
  if (feature === 'epics') return true;
  const access = parent[FEATURES[feature]] ?? 'enabled';
  return access === 'enabled' || (access === 'private' && isMember);
}

/** The reader of a thing. Errors: NotFound of its kind while the project shows nothing of it to this viewer. */
export function readerOfNamed(viewer: Viewer, { kind, parent }: Pick<NamedNoteable, 'kind' | 'parent'>): Reader {
  const reader = readerOf(viewer, parent);
  if (!reads(kind.feature, parent, reader)) throw new NotFound(kind.resource);
  return reader;
}
