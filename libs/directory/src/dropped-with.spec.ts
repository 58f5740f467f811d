import { declaredEffects } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { createDeleteWithGroupController, createDeleteWithProjectController } from './dropped-with';

const tx = {} as Tx;
const drop = jest.fn(() => Promise.resolve());
const assertDeleted = jest.fn((..._: unknown[]) => Promise.resolve());

it.each([
  ['project', createDeleteWithProjectController({ drop }, 'spec-drop-pins'), 'spec-drop-pins'],
  ['group', createDeleteWithGroupController({ drop }, 'spec-drop-pins-of-groups'), 'spec-drop-pins-of-groups'],
])('rows of a deleted %s are deleted with it, for all events of a batch at once', async (kind, controller, effect) => {
  const events = [7, 9].map((id) => ({ data: { [`${kind}_id`]: id } }));
  const made = new (controller as new (directory: object) => { drop(batch: object): Promise<void> })({ assertDeleted });
  assertDeleted.mockRejectedValueOnce(new Error('refused'));
  await made.drop({ tx, events });
  expect(drop).not.toHaveBeenCalledWith(tx, kind, [7, 9]);
  await made.drop({ tx, events });
  expect(assertDeleted).toHaveBeenLastCalledWith(tx, kind, events, [7, 9]);
  expect(drop).toHaveBeenLastCalledWith(tx, kind, [7, 9]);
  const declared = declaredEffects().filter(({ name }) => name === effect);
  expect(declared.map(({ definition }) => definition.subject)).toEqual([`identity.${kind}.deleted.v1`]);
});
