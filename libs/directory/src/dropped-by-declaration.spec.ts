import { declaredEffects } from '@rookery/messaging';
import { declareAttachedTable } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { createAttachedRowDeletionControllers } from './dropped-by-declaration';

test('one consumer an effect deletes the rows of all its attachments, in their order', async () => {
  const attachments = [
    declareAttachedTable({ table: 'spec_links', key: 'ctid', effect: 'spec-drop-birds', project: 'project_id' }),
    declareAttachedTable({ table: 'spec_birds', effect: 'spec-drop-birds', project: 'project_id', group: 'group_id' }),
    declareAttachedTable({ table: 'spec_eggs', project: 'project_id' }),
    declareAttachedTable({ table: 'spec_own', project: 'project_id', consumedInWing: ['project'] }),
    declareAttachedTable({ table: 'spec_kept', project: { column: 'project_id', because: 'a reason' } }),
  ];
  const controllers = createAttachedRowDeletionControllers(attachments);
  const effects = declaredEffects().filter(({ name }) => name.includes('spec-'));
  expect(effects.map(({ name, definition }) => [name, definition.subject])).toEqual([
    ['spec-drop-birds', 'identity.project.deleted.v1'],
    ['drop-spec-eggs', 'identity.project.deleted.v1'],
    ['spec-drop-birds', 'identity.group.deleted.v1'],
  ]);
  const run = jest.fn((_: { readonly name: string }) => Promise.resolve([]));
  const [first] = controllers as unknown as [new (directory: object) => { drop(batch: object): Promise<void> }];
  const events = [{ data: { project_id: 7 } }];
  await new first({ assertDeleted: () => Promise.resolve() }).drop({ tx: { prepared: run } as unknown as Tx, events });
  expect(run.mock.calls.map(([{ name }]) => name)).toEqual([
    'removal_spec_links_project_id',
    'removal_spec_birds_project_id',
  ]);
});
