import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import type { ActionSet } from './action-set';
import { QuickActionsService } from './quick-actions.service';

const tooMany = new TooManyRequests(1, { name: 'notes', most: 1, each: 'minute', setting: null });
const kind = { type: 'Issue' } as NoteableKind;
const on = { kind } as NoteableWithParent;
const tx = { attempt: (step: () => Promise<unknown>) => step() } as unknown as Tx;
const context = { viewer: {} as SignedInViewer, kind, parent: {} as NoteableWithParent['parent'] };

/** Creates quick actions that record the order in which they are executed. */
function recordingActions(fails: Readonly<Record<string, Error>> = {}) {
  const order: string[] = [];
  const actions = new QuickActionsService(new NoteableKinds([kind]));
  const set = (names: readonly string[], isFirst?: true): ActionSet => ({
    names,
    ...(isFirst ? { isFirst } : {}),
    supportsKind: ({ type }) => type === 'Issue',
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
  actions.declareSet(set(['b', 'c']));
  actions.declareSet(set(['a'], true));
  return { actions, order };
}
const report = async ({ actions }: ReturnType<typeof recordingActions>, text: string) =>
  (await actions.planActions(context, actions.readCommands(kind, text).commands)).execute(tx, on);

test('actions that lock more run first; the messages keep the order of the text', async () => {
  const recording = recordingActions();
  const { sentences, changes, isAnyDone } = await report(recording, '/c 1\n/a 2\n/b 3');
  expect(recording.order).toEqual(['a', 'c', 'b']);
  expect(sentences).toEqual(['Did c.', 'Did a.', 'Did b.']);
  expect([changes, isAnyDone]).toEqual([{ a: '2', b: '3', c: '1' }, true]);
});

test('reports a refused action and executes the others', async () => {
  const { sentences, changes, isAnyDone } = await report(recordingActions({ a: new Forbidden() }), '/a\n/b');
  expect(sentences).toEqual(['Could not apply /a: you are not allowed to.', 'Did b.']);
  expect([changes, isAnyDone]).toEqual([{ b: '' }, true]);
});

test('errors that are not refusals abort the request', async () => {
  await expect(report(recordingActions({ a: tooMany }), '/a\n/b')).rejects.toThrow(TooManyRequests);
  await expect(report(recordingActions({ b: new Error('lost') }), '/a\n/b')).rejects.toThrow('lost');
});

test('quick actions of other kinds are text', () => {
  const { actions } = recordingActions();
  expect(actions.readCommands({ type: 'Epic' } as NoteableKind, '/a').rest).toBe('/a');
});
