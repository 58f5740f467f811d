import type { ImportedKind } from '@rookery/contracts';
import { declareAttachedTable } from '@rookery/persistence';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * An object of a project that was imported, and the upstream object that it comes from. A repeated import finds it here and
 * changes nothing. The row stays after the object is deleted, so that a repeated import does not bring it back.
 */
@Entity('imported_objects')
@Check(
  'ck_imported_objects_kind',
  `kind in ('milestone', 'release', 'issue', 'merge_request', 'note', 'diff_note', 'review', 'issue_event')`,
)
export class ImportedObject {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_imported_objects' }) projectId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_imported_objects' }) kind: ImportedKind;
  /** Id of the upstream object; of milestones, issues and merge requests, their number. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_imported_objects' }) upstreamId: number;
  /** Its local id; of an event, the id of the issue or merge request. */
  @Column({ type: 'bigint' }) objectId: number;
}

export const attachedImportedObjects = declareAttachedTable({
  table: 'imported_objects',
  key: 'ctid',
  effect: 'drop-imported-objects',
  project: 'project_id',
  stays: {
    upstream_id: 'An id of another host.',
    object_id: 'The row stays after the object is deleted, so that a repeated import does not bring it back.',
  },
});
