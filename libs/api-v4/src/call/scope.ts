import type { DirectoryFork, DirectoryJobAdmission, DirectoryMergeSettings } from '@rookery/contracts';
import type { Viewer, Visibility } from '@rookery/kernel';

/** Fields of a namespace that every service has in its directory copy. Source: docs/architecture.md 4. */
export interface NamespaceFacts {
  readonly id: number;
  readonly kind: 'group' | 'user';
  /** Owner of a user namespace; null for a group. */
  readonly ownerId: number | null;
  readonly parentId: number | null;
  /** Ids from the root down to this namespace, inclusive. */
  readonly traversalIds: readonly number[];
  readonly name: string;
  readonly path: string;
  readonly fullName: string;
  readonly fullPath: string;
  readonly visibility: Visibility;
  readonly avatarUrl: string | null;
  readonly emailsEnabled: boolean;
  readonly plan: 'free' | 'premium' | 'ultimate';
  /** Whether the contents of a group take no writes: it or a group above is marked for deletion. */
  readonly archived: boolean;
}

export type FeatureAccess = 'disabled' | 'private' | 'enabled';

/** A project that the viewer may see, with the viewer's access level in it (0 for none). */
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
  /** Settings for merges that the project has set. */
  readonly mergeSettings: DirectoryMergeSettings;
  /** Null for a project that is not a fork. */
  readonly fork: DirectoryFork | null;
  /** Other projects whose jobs may use this one with their tokens; null for none. */
  readonly jobAdmission: DirectoryJobAdmission | null;
  /** Whether the repository begins with a README. */
  readonly initializeWithReadme: boolean;
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

/** A group (never a user namespace) that the viewer may see, with the viewer's access level in it. */
export interface GroupScope extends NamespaceFacts {
  readonly kind: 'group';
  readonly level: number;
}

/**
 * Source of a decision while the copy is late. `whichever`: the copy or identity's answer about this project or group,
 * the first of the two. `copy`: the copy alone, for endpoints whose statements authorize other projects by it too.
 * Source: ADR 0042.
 */
export type DecisionSource = 'whichever' | 'copy';

/**
 * Resolves `:id` to a project or group. Two implementations: the directory copy of a service and identity's own tables.
 * A numeric `ref` is an id, a text is a full path. The result is null if the target is missing or invisible to the
 * viewer.
 * Errors: Unavailable when the copy has not reached the version of the request in time.
 */
export interface ScopeResolver {
  findProject(ref: number | string, viewer: Viewer, by?: DecisionSource): Promise<ProjectScope | null>;
  findGroup(ref: number | string, viewer: Viewer, by?: DecisionSource): Promise<GroupScope | null>;
  /** Finds a project that the viewer may see by a full path that it had formerly. */
  formerProject?(fullPath: string, viewer: Viewer): Promise<ProjectScope | null>;
  /** Waits until the copy may decide for this viewer. */
  requireFresh(viewer: Viewer): Promise<void>;
  /**
   * Returns a version newer than the viewer's, with which a refused request is authorized again; null for none. Not
   * implemented by identity, whose own tables are never late.
   */
  newestPosition?(viewer: Viewer): Promise<Viewer['directory'] | null>;
}
/** Injection token of ScopeResolver. */
export const SCOPE_RESOLVER: unique symbol = Symbol('ScopeResolver');

/** Declares the parent of an endpoint: its path parameter, its name in a 404 answer, and its resolution. */
export interface ScopeOption<W> {
  readonly kind: 'project' | 'group';
  readonly param: string;
  readonly resource: string;
  readonly by: DecisionSource;
  /** Whether `resolve` finds projects by former paths too. */
  readonly servesFormerPaths?: true;
  resolve(resolver: ScopeResolver, ref: number | string, viewer: Viewer): Promise<W | null>;
}

/** Declares a project as the parent; 404 "Project Not Found" unless the viewer may see it. */
export function project(param = 'id', by: DecisionSource = 'whichever'): ScopeOption<ProjectScope> {
  return {
    kind: 'project',
    param,
    by,
    resource: 'Project',
    resolve: (resolver, ref, viewer) => resolver.findProject(ref, viewer, by),
  };
}

/**
 * Declares a project as the parent that the path names by its full path, or by a former one which no other project has
 * taken. For git, whose users keep addresses for years. Source: reference repositories 1.9.
 */
export function projectByPresentOrFormerPath(param: string): ScopeOption<ProjectScope> {
  const named = project(param);
  return {
    ...named,
    servesFormerPaths: true,
    async resolve(resolver, ref, viewer) {
      const found = await named.resolve(resolver, ref, viewer);
      return found ?? (await resolver.formerProject?.(String(ref), viewer)) ?? null;
    },
  };
}

/**
 * Declares a project as the parent that a parameter names by its full path, present or former, with `separator` for each
 * slash. Clients of Conan write it so. Source: reference packages-and-admin 4.13.
 */
export function projectByJoinedPath(param: string, separator: string): ScopeOption<ProjectScope> {
  const named = projectByPresentOrFormerPath(param);
  return {
    ...named,
    async resolve(resolver, ref, viewer) {
      const path = String(ref).replaceAll(separator, '/');
      // A text without a slash would count as an id.
      return path.includes('/') ? named.resolve(resolver, path, viewer) : null;
    },
  };
}

/** Declares a group as the parent; 404 "Group Not Found" unless the viewer may see it. */
export function group(param = 'id', by: DecisionSource = 'whichever'): ScopeOption<GroupScope> {
  return {
    kind: 'group',
    param,
    by,
    resource: 'Group',
    resolve: (resolver, ref, viewer) => resolver.findGroup(ref, viewer, by),
  };
}

/** Declares a parent of either kind, for controllers that are generated for projects and for groups. */
export function projectOrGroup(
  kind: 'project' | 'group',
  param = 'id',
  by: DecisionSource = 'whichever',
): ScopeOption<ProjectScope | GroupScope> {
  return kind === 'project' ? project(param, by) : group(param, by);
}

/** Returns the namespace of a scope: the group itself, or the namespace of a project. */
export function namespaceOf(scope: ProjectScope | GroupScope): NamespaceFacts {
  return scope.kind === 'project' ? scope.namespace : scope;
}
