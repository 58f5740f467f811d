import type { SharedWithGroup } from '../invited-groups/shared-with-groups';
import type { ProjectRow } from '../projects/project-row';
import type { Namespace } from '../group-settings/namespace.entity';

/** A group as the statements of this room read it. */
export interface GroupRow extends Omit<Namespace, 'marked_for_deletion_at'> {
  /** Read on demand, for administrators. */
  readonly custom_attributes?: readonly CustomAttribute[];
}
type CustomAttribute = { readonly key: string; readonly value: string };

/** A single group with the groups invited to it. */
export interface SharedGroupRow extends GroupRow {
  readonly shared_with_groups: readonly SharedWithGroup[];
}

/** A single group as it is answered. `projects` are there when they were asked for. */
export interface GroupDetailRow extends SharedGroupRow {
  /** May the caller administer it, and is this an answer that shows what only such callers see? */
  readonly shows_secrets: boolean;
  readonly projects?: readonly ProjectRow[];
  readonly shared_projects?: readonly ProjectRow[];
}
