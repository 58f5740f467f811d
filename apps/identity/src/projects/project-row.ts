import type { SharedWithGroup } from '../groups/group-row';
import type { UserFace } from '../users/user-row';
import type { Project } from './project.entity';

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

/** A project as the statements of this room read it for one viewer. */
export interface ProjectRow extends Project {
  readonly namespace: ProjectNamespace;
  /** The person of a personal project. */
  readonly owner: UserFace | null;
  readonly shared_with_groups: readonly SharedWithGroup[];
  /** The viewer's levels: everything counted; of the project itself; of its groups. */
  readonly level: number;
  readonly project_level: number | null;
  readonly group_level: number | null;
  /** Which of the two shapes this answer has. */
  readonly shape: 'basic' | 'full';
}
