import { Module } from '@nestjs/common';
import type { Tx } from '../work/work';
import { attachedTablesIn, Attaches, refuseUnreachableAttachments } from './attached-in';
import { declareAttachedTable } from './attached-to';
import { DEPARTURE_CHUNK, REMOVAL_CHUNK } from './chunks';

const noteable = { type: 'noteable_type', id: 'noteable_id' };
const birds = declareAttachedTable({ table: 'birds', noteable, project: 'project_id', group: 'group_id' });
const eggs = declareAttachedTable<string>({
  table: 'eggs',
  key: 'ctid',
  users: [
    { column: 'owner_id', onRemoval: 'delete', where: [`state = 'new'`, `state = 'old'`] },
    { column: 'named_id', onRemoval: 'ghost-or-null' },
    { column: 'author_id', onRemoval: 'ghost-or-delete', alsoSets: 'address = null', deletedWhere: 'nest_id is null' },
    { column: 'finder_id', onRemoval: 'ghost', because: 'a reason' },
    { column: 'x_id', onRemoval: 'hook', because: 'a reason', statements: (text) => [{ name: 'hook', text }] },
  ],
});

@Attaches(birds)
@Module({})
class BirdsModule {}

@Attaches(eggs)
@Module({ imports: [BirdsModule] })
class EggsModule {}

test('attachments are found through modules, those of imported modules first', () => {
  expect(attachedTablesIn(EggsModule)).toEqual([birds, eggs]);
  expect(() => refuseUnreachableAttachments(attachedTablesIn(EggsModule))).not.toThrow();
});

test('an attachment that no module names is refused', () => {
  expect(() => refuseUnreachableAttachments(attachedTablesIn(BirdsModule))).toThrow('the attachments of eggs');
});

test('each step of the removal of a user has the statements of its columns, hooks first', () => {
  const texts = (step: Parameters<typeof eggs.departureStatements>[0]) =>
    eggs
      .departureStatements(step, 'a hook')
      .map(({ text }) => text.replaceAll(/ctid = any\(array\(.* where (.*)\)\)/g, '[$1]'));
  const chunk = `limit ${DEPARTURE_CHUNK} for no key update]`;
  expect(texts('own')).toEqual([
    'a hook',
    `delete from eggs where [owner_id = $1::bigint and state = 'new' ${chunk} returning 1`,
    `delete from eggs where [owner_id = $1::bigint and state = 'old' ${chunk} returning 1`,
  ]);
  expect(texts('named')).toEqual([
    `update eggs set named_id = $2::bigint where [named_id = $1::bigint ${chunk} returning 1`,
  ]);
  expect(texts('written')).toEqual([
    `update eggs set author_id = $2::bigint, address = null where [author_id = $1::bigint ${chunk} returning 1`,
    `update eggs set finder_id = $2::bigint where [finder_id = $1::bigint ${chunk} returning 1`,
  ]);
  expect(texts('dropWritten')).toEqual([
    `delete from eggs where [author_id = $1::bigint and nest_id is null ${chunk} returning 1`,
  ]);
});

test('rows of a deleted parent are deleted chunk by chunk until one is not full', async () => {
  const counts = [REMOVAL_CHUNK, REMOVAL_CHUNK, 3, REMOVAL_CHUNK];
  const run = jest.fn((..._: unknown[]) => Promise.resolve(Array.from({ length: counts.shift()! })));
  const tx = { prepared: run } as unknown as Tx;
  await birds.deleteRows(tx, 'project', [7]);
  expect(run).toHaveBeenCalledTimes(3);
  expect(run.mock.lastCall).toMatchObject([{ name: 'removal_birds_project_id' }, [[7]]]);
  counts.splice(0, 1, 0);
  await birds.dropOfNoteables(tx, { type: 'Issue', rows: [{ id: 5, projectId: 7 }] });
  expect(run.mock.lastCall).toMatchObject([{ name: 'removal_birds_noteable' }, ['Issue', [5]]]);
  await expect(eggs.deleteRows(tx, 'project', [7])).rejects.toThrow('eggs has no rows that are deleted with a project');
});
