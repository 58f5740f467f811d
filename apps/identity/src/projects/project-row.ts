import type { SharedWithGroup } from '../members/sharing/shared-with-groups-sql';
import type { UserFace } from '../users/user.entity';
import type { ProjectRecord } from './project.entity';

export interface ProjectNamespace extends Record<string, unknown> {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly kind: 'group' | 'user';
  readonly full_path: string;
  readonly full_name: string;
  readonly parent_id: number | null;
  readonly avatar_url: string | null;
}

/** What the basic shape shows of a project. Instants that come out of JSON are texts. */
export interface BasicProjectRow extends Pick<
  ProjectRecord,
  'id' | 'description' | 'name' | 'path' | 'default_branch' | 'avatar_url' | 'star_count' | 'forks_count' | 'visibility'
> {
  readonly created_at: Date | string;
  readonly last_activity_at: Date | string;
  readonly namespace: ProjectNamespace;
  /** Names in the order in which they were given. */
  readonly topics: readonly string[];
  /** Only where they were asked for by an administrator. */
  readonly custom_attributes?: readonly { readonly key: string; readonly value: string }[] | null;
}

/** A project as the statements of this room read it for one viewer. What only the full shape shows is null in the other. */
export interface ProjectRow extends BasicProjectRow, Omit<ProjectRecord, 'created_at' | 'last_activity_at'> {
  /** The person of a personal project. */
  readonly owner: UserFace | null;
  /** What it was forked from, as far as the viewer may know. */
  readonly forked_from_project: BasicProjectRow | null;
  /** Open issues, and those of them that are not confidential; null where nobody counted yet. */
  readonly open_issues: { readonly all: number; readonly public: number } | null;
  readonly shared_with_groups: readonly SharedWithGroup[];
  /** The viewer's levels: everything counted; of the project itself; of its groups and of groups invited to it. */
  readonly level: number;
  readonly project_level: number | null;
  readonly group_level: number | null;
  /** Which of the two shapes this answer has. */
  readonly shape: 'basic' | 'full';
  /** Is this the answer to a question about this one project? */
  readonly is_single: boolean;
  /** null unless they were asked for. */
  readonly statistics: Readonly<Record<string, number>> | null;
  /** Was the licence asked for? */
  readonly with_license: boolean;
}
