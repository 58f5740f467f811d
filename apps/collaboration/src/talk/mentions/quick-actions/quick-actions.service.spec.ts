import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import type { ActionSet } from './action-set';
import { QuickActionsService } from './quick-actions.service';

const tooMany = new TooManyRequests(1, { name: 'notes', most: 1, each: 'minute', setting: null });
const kind = { type: 'Issue' } as NoteableKind;
const on = { kind } as PlacedNoteable;
const tx = { attempt: (step: () => Promise<unknown>) => step() } as unknown as Tx;
const asking = { viewer: {} as SignedInViewer, kind, parent: {} as PlacedNoteable['parent'] };

/** Actions that remember the order in which they were carried out. */
function carrying(fails: Readonly<Record<string, Error>> = {}) {
  const order: string[] = [];
  const actions = new QuickActionsService(new NoteableKinds([kind]));
  const set = (names: readonly string[], isFirst?: true): ActionSet => ({
    names,
    ...(isFirst ? { isFirst } : {}),
    fits: ({ type }) => type === 'Issue',
    plan: (_, commands) => () => {
      for (const { name } of commands) {
        order.push(name);
        if (fails[name]) throw fails[name];
      }
      return Promise.resolve(
        commands.map(({ name, argument }) => ({ said: `Did ${name}.`, changes: { [name]: argument } })),
      );
    },
  });
  actions.declare(set(['b', 'c']));
  actions.declare(set(['a'], true));
  return { actions, order };
}
const report = async ({ actions }: ReturnType<typeof carrying>, text: string) =>
  (await actions.plan(asking, actions.read(kind, text).commands)).carryOut(tx, on);

test('what locks most comes first, what is told stays in its order', async () => {
  const carried = carrying();
  const { sentences, changes, isAnyDone } = await report(carried, '/c 1\n/a 2\n/b 3');
  expect(carried.order).toEqual(['a', 'c', 'b']);
  expect(sentences).toEqual(['Did c.', 'Did a.', 'Did b.']);
  expect([changes, isAnyDone]).toEqual([{ a: '2', b: '3', c: '1' }, true]);
});

test('what is refused is told, and the others are done', async () => {
  const { sentences, changes, isAnyDone } = await report(carrying({ a: new Forbidden() }), '/a\n/b');
  expect(sentences).toEqual(['Could not apply /a: you are not allowed to.', 'Did b.']);
  expect([changes, isAnyDone]).toEqual([{ b: '' }, true]);
});

test('what ends the whole is no refusal', async () => {
  await expect(report(carrying({ a: tooMany }), '/a\n/b')).rejects.toThrow(TooManyRequests);
  await expect(report(carrying({ b: new Error('lost') }), '/a\n/b')).rejects.toThrow('lost');
});

test('commands of other kinds are text', () => {
  const { actions } = carrying();
  expect(actions.read({ type: 'Epic' } as NoteableKind, '/a').rest).toBe('/a');
});
