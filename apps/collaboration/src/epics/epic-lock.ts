import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { readerOf } from '../noteables/reader';
import { Epic } from './epic.entity';
import { epicKind } from './epic.kind';
import type { EpicGroup } from './epics.queries';

/** $1 group, $2 number, $3 whether the writer reads confidential ones; nothing else decides who sees an epic. */
const VISIBLE = `select i.id, now() as at from epics i where i.group_id = $1::bigint and i.iid = $2::bigint
  and ${epicKind.visibleSql({ viewer: 'null', isMember: 'false', readsConfidential: '$3::boolean' })}`;
const lockVisible = prepared('epics_lock_visible', `${VISIBLE} for no key update`);

/** The epic that a path names, held until the transaction ends, and the time. Errors: NotFound. */
export async function lockEpic(
  tx: Tx,
  viewer: SignedInViewer,
  group: EpicGroup,
  iid: number,
): Promise<{ readonly epic: Epic; readonly at: Date }> {
  const [row] = await tx.prepared<{ id: number; at: Date }>(lockVisible, valuesOf(viewer, group, iid));
  if (!row) throw new NotFound();
  return { epic: await tx.manager.findOneByOrFail(Epic, { id: row.id }), at: row.at };
}

function valuesOf(viewer: SignedInViewer, group: EpicGroup, iid: number): unknown[] {
  return [group.id, iid, readerOf(viewer, group).readsConfidential];
}
