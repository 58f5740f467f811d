import type { SharedWithGroup } from '../members/sharing/shared-with-groups-sql';
import type { UserSummary } from '../users/user.entity';
import type { ProjectRecord } from './project.entity';

interface ProjectNamespace extends Record<string, unknown> {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly kind: 'group' | 'user';
  readonly full_path: string;
  readonly full_name: string;
  readonly parent_id: number | null;
  readonly avatar_url: string | null;
}

/** Fields of the basic shape. Times that come from JSON are texts. */
export interface BasicProjectRow extends Pick<
  ProjectRecord,
  'id' | 'description' | 'name' | 'path' | 'default_branch' | 'avatar_url' | 'star_count' | 'forks_count' | 'visibility'
> {
  readonly created_at: Date | string;
  readonly last_activity_at: Date | string;
  readonly namespace: ProjectNamespace;
  /** Names in the order in which they were given. */
  readonly topics: readonly string[];
  /** Only if an administrator requested them. */
  readonly custom_attributes?: readonly { readonly key: string; readonly value: string }[] | null;
}

/**
 * A project, as the statements of this wing read it for one viewer. Fields that only the full shape shows are null in
 * the basic one.
 */
export interface ProjectRow extends BasicProjectRow, Omit<ProjectRecord, 'created_at' | 'last_activity_at'> {
  /** The user of a personal project. */
  readonly owner: UserSummary | null;
  /** The source of a fork, if the viewer can see it. */
  readonly forked_from_project: BasicProjectRow | null;
  /** Number of open issues, and of those that are not confidential; null where they were never counted. */
  /** Open issues, and commits of the default branch. */
  readonly counts: { readonly all: number; readonly public: number; readonly commits: number } | null;
  readonly shared_with_groups: readonly SharedWithGroup[];
  /**
   * Access levels of the viewer: the effective one; that of the project itself; that of its groups and of groups
   * invited to it.
   */
  readonly level: number;
  readonly project_level: number | null;
  readonly group_level: number | null;
  /** The shape of this answer. */
  readonly shape: 'basic' | 'full';
  /** Whether the answer is about this single project. */
  readonly is_single: boolean;
  /** null unless they were requested. */
  readonly statistics: Readonly<Record<string, number>> | null;
  /** Whether the licence was requested. */
  readonly with_license: boolean;
}
