import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { createNoteableReader } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { Epic } from './epic.entity';
import { epicKind } from './epic.kind';
import type { EpicGroup } from './epics.queries';

/** $1 group, $2 id or number, $3 whether the viewer reads confidential epics. An epic has no other visibility rules. */
const prepareVisibleEpicLockStatement = (by: NoteableReference['by']) =>
  prepareStatement(
    `epics_lock_visible_by_${by}`,
    `select i.id, now() as at from epics i where i.group_id = $1::bigint and i.${by} = $2::bigint
       and ${epicKind.visibleSql({ viewer: 'null', isMember: 'false', readsConfidential: '$3::boolean' })}
     for no key update`,
  );
const LOCKS = { id: prepareVisibleEpicLockStatement('id'), iid: prepareVisibleEpicLockStatement('iid') };

/** Reference of a path or a text to an epic of its group. */
export type EpicIdentifier = Pick<NoteableReference, 'by' | 'named'>;

/** Locks the epic that a path names until the transaction ends; also returns the database's time. Errors: NotFound. */
export async function lockEpic(
  tx: Tx,
  viewer: SignedInViewer,
  group: EpicGroup,
  { by, named }: EpicIdentifier,
): Promise<{ readonly epic: Epic; readonly at: Date }> {
  const [row] = await tx.prepared<{ id: number; at: Date }>(LOCKS[by], lockStatementValues(viewer, group, named));
  if (!row) throw new NotFound();
  return { epic: await tx.manager.findOneByOrFail(Epic, { id: row.id }), at: row.at };
}

function lockStatementValues(viewer: SignedInViewer, group: EpicGroup, idOrIid: number): unknown[] {
  return [group.id, idOrIid, createNoteableReader(viewer, group).readsConfidential];
}
