import type { ProjectFacts } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, NotFound } from '@rookery/kernel';
import { cachePerNoteableKind } from './noteable-kinds';
import type { Feature, NoteableKind, ProjectFeature } from './noteable-kinds';

const FEATURES = {
  issues: 'issuesAccessLevel',
  merge_requests: 'mergeRequestsAccessLevel',
  snippets: 'snippetsAccessLevel',
} as const satisfies Record<ProjectFeature, keyof ProjectFacts>;

/**
 * Fields of the parent, and the viewer's level in it, that read permissions depend on. Any ProjectScope or GroupScope
 * fits. A group has no feature that can be disabled.
 */
export type ParentFacts = Pick<ProjectFacts, 'id' | 'fullPath' | 'visibility'> &
  Partial<Pick<ProjectFacts, 'archived' | 'repositoryAccessLevel' | (typeof FEATURES)[ProjectFeature]>> & {
    readonly level: number;
    readonly namespace?: { readonly traversalIds: readonly number[] };
    readonly traversalIds?: readonly number[];
  };

/** Returns the ids of a project's ancestor groups, or of a group and its ancestors, from the root down. */
export function ancestorIdsOf({ namespace, traversalIds = [] }: ParentFacts): readonly number[] {
  return namespace?.traversalIds ?? traversalIds;
}

/** A noteable as a path names it, in a project or group. */
export interface NoteableReference {
  readonly kind: NoteableKind;
  readonly parent: ParentFacts;
  /** Column that `named` is a value of. */
  readonly by: 'id' | 'iid';
  readonly named: number;
  /** It exists, but has no row, because nothing was written about it yet: a commit without notes. */
  readonly isUntouched?: true;
}

/** Caches one value, usually a statement, for each noteable kind and column (`id` or `iid`). `make` runs on first use. */
export function cachePerNoteableKindAndColumn<T>(
  make: (kind: NoteableKind, by: NoteableReference['by']) => T,
): (on: Pick<NoteableReference, 'kind' | 'by'>) => T {
  const made = {
    id: cachePerNoteableKind((kind) => make(kind, 'id')),
    iid: cachePerNoteableKind((kind) => make(kind, 'iid')),
  };
  return ({ kind, by }) => made[by](kind);
}

/** Read permissions of a viewer in one project or group, computed once and passed to SQL as plain values. */
export interface Reader {
  readonly viewerId: number | null;
  readonly isAdmin: boolean;
  readonly isMember: boolean;
  readonly readsConfidential: boolean;
  readonly readsInternal: boolean;
  readonly isReporter: boolean;
}

/**
 * Read permissions for the noteables of a project or group and their notes. Confidential noteables need the planner role (SQL
 * adds assignees, and authors who have a role); internal notes need the reporter role.
 * Source: reference work-tracking 2.3, 2.4, 9.1.
 */
export function createNoteableReader(viewer: Viewer, { level }: ParentFacts): Reader {
  return {
    viewerId: viewer.userId,
    isAdmin: viewer.isAdmin,
    isMember: viewer.isAdmin || level >= ACCESS_LEVELS.guest,
    readsConfidential: viewer.isAdmin || level >= ACCESS_LEVELS.planner,
    readsInternal: viewer.isAdmin || level >= ACCESS_LEVELS.reporter,
    isReporter: viewer.isAdmin || level >= ACCESS_LEVELS.reporter,
  };
}

/**
 * Error for a reference that no row belongs to. `resource` is what was looked up below the noteable, for the case that
 * the noteable exists.
 */
export function createNoteableNotFound({ kind, isUntouched }: NoteableReference, resource?: string): NotFound {
  return new NotFound(isUntouched ? resource : kind.resource);
}

/**
 * Whether a reader sees a feature: it is enabled, or private and the reader is a member. Merge requests need permission to
 * read the code too. The routes check plans.
 */
export function canReadFeature(feature: Feature, parent: ParentFacts, reader: Reader): boolean {
  const needsCode = feature === 'merge_requests' || feature === 'code';
  return isFeatureEnabledFor(feature, parent, reader) && (!needsCode || canReadCode(parent, reader));
}

function isFeatureEnabledFor(feature: Feature, parent: ParentFacts, { isMember }: Reader): boolean {
  if (feature === 'epics' || feature === 'code') return true;
  const access = parent[FEATURES[feature]] ?? 'enabled';
  return access === 'enabled' || (access === 'private' && isMember);
}

/** Whether the reader may read the code, as in `mayReadCode`. Guests and planners of a private project do not read its code. Source: reference repositories 2.1. */
function canReadCode({ visibility, repositoryAccessLevel: access = 'enabled' }: ParentFacts, reader: Reader): boolean {
  if (access === 'disabled') return false;
  return reader.isReporter || (visibility !== 'private' && (access === 'enabled' || reader.isMember));
}

/**
 * Read permissions for a noteable. Errors: NotFound of its kind if the viewer does not see the feature in the project;
 * Forbidden for merge requests and commits if only the permission to read the code is missing.
 */
export function requireNoteableReader(
  viewer: Viewer,
  { kind, parent }: Pick<NoteableReference, 'kind' | 'parent'>,
): Reader {
  const reader = createNoteableReader(viewer, parent);
  if (canReadFeature(kind.feature, parent, reader)) return reader;
  throw isFeatureEnabledFor(kind.feature, parent, reader) ? new Forbidden() : new NotFound(kind.resource);
}
