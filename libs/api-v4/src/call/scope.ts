import type { Viewer, Visibility } from '@rookery/kernel';

/** What every service knows of a namespace, from its directory copy. Source: docs/architecture.md 4. */
export interface NamespaceFacts {
  readonly id: number;
  readonly kind: 'group' | 'user';
  /** The person of a user namespace. */
  readonly ownerId: number | null;
  readonly parentId: number | null;
  /** Ids from the root down to this one, itself included. */
  readonly traversalIds: readonly number[];
  readonly name: string;
  readonly path: string;
  readonly fullName: string;
  readonly fullPath: string;
  readonly visibility: Visibility;
  readonly avatarUrl: string | null;
  readonly emailsEnabled: boolean;
  readonly plan: 'free' | 'premium' | 'ultimate';
}

export type FeatureAccess = 'disabled' | 'private' | 'enabled';

/** A project that the viewer may see, with the level they hold in it (0 when none). */
export interface ProjectScope {
  readonly kind: 'project';
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly fullPath: string;
  readonly nameWithNamespace: string;
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly archived: boolean;
  readonly issuesAccessLevel: FeatureAccess;
  readonly snippetsAccessLevel: FeatureAccess;
  readonly mergeRequestsAccessLevel: FeatureAccess;
  readonly repositoryAccessLevel: FeatureAccess;
  readonly featureFlagsAccessLevel: FeatureAccess;
  readonly packagesEnabled: boolean;
  readonly emailsEnabled: boolean;
  readonly creatorId: number | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly defaultBranch: string | null;
  readonly avatarUrl: string | null;
  readonly namespace: NamespaceFacts;
  readonly level: number;
}

/** A group (never a user namespace) that the viewer may see, with the level they hold in it. */
export interface GroupScope extends NamespaceFacts {
  readonly kind: 'group';
  readonly level: number;
}

/**
 * What decides while the copy is behind: whichever is first, the copy or the word of identity on this one place; or the
 * copy alone, for endpoints whose statements judge other places by it too. Source: ADR 0042.
 */
export type DecidedBy = 'whichever' | 'copy';

/**
 * Turns `:id` into a project or group. Two implementations: the directory copy of a service and identity's own tables.
 * Shape: a number is an id, a text is a full path; null = missing or invisible to the viewer.
 * Errors: Unavailable when the copy has not reached the version of the request in time.
 */
export interface ScopeResolver {
  project(ref: number | string, viewer: Viewer, by?: DecidedBy): Promise<ProjectScope | null>;
  group(ref: number | string, viewer: Viewer, by?: DecidedBy): Promise<GroupScope | null>;
  /** Waits until decisions for this viewer may be made. */
  fresh(viewer: Viewer): Promise<void>;
  /**
   * A version beyond the viewer's, by which what they were refused is judged again; null when there is none. Left out
   * where nothing is copied, hence nothing is behind.
   */
  newest?(viewer: Viewer): Promise<Viewer['directory'] | null>;
}
export const SCOPE_RESOLVER: unique symbol = Symbol('ScopeResolver');

/** Which path parameter names the parent, what it is called when it is not found, and how it is resolved. */
export interface ScopeOption<W> {
  readonly kind: 'project' | 'group';
  readonly param: string;
  readonly resource: string;
  readonly by: DecidedBy;
  resolve(resolver: ScopeResolver, ref: number | string, viewer: Viewer): Promise<W | null>;
}

/** The endpoint lies below a project; 404 "Project Not Found" unless the viewer may see it. */
export function project(param = 'id', by: DecidedBy = 'whichever'): ScopeOption<ProjectScope> {
  return {
    kind: 'project',
    param,
    by,
    resource: 'Project',
    resolve: (resolver, ref, viewer) => resolver.project(ref, viewer, by),
  };
}

/** The endpoint lies below a group; 404 "Group Not Found" unless the viewer may see it. */
export function group(param = 'id', by: DecidedBy = 'whichever'): ScopeOption<GroupScope> {
  return {
    kind: 'group',
    param,
    by,
    resource: 'Group',
    resolve: (resolver, ref, viewer) => resolver.group(ref, viewer, by),
  };
}

/** For endpoints stamped once below projects and once below groups. */
export function source(
  kind: 'project' | 'group',
  param = 'id',
  by: DecidedBy = 'whichever',
): ScopeOption<ProjectScope | GroupScope> {
  return kind === 'project' ? project(param, by) : group(param, by);
}

/** The group that a scope belongs to: itself, or the namespace of a project. */
export function namespaceOf(scope: ProjectScope | GroupScope): NamespaceFacts {
  return scope.kind === 'project' ? scope.namespace : scope;
}
