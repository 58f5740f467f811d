import { appliedPushIds } from './settled-states';
import type { RecordedUpdate } from './settled-states';

const recordedUpdate = (pushId: number, oldId: string, newId: string, state: RecordedUpdate['state'] = 'intended') => ({
  pushId,
  oldId,
  newId,
  state,
});

it.each([
  ['an update that happened', [recordedUpdate(1, 'a', 'b')], 'b', [1]],
  ['an update that did not', [recordedUpdate(1, 'a', 'b')], 'a', []],
  [
    'an update below later ones',
    [recordedUpdate(3, 'c', 'd', 'done'), recordedUpdate(2, 'b', 'c'), recordedUpdate(1, 'a', 'b')],
    'd',
    [3, 2, 1],
  ],
  ['the loser of two updates of the same value', [recordedUpdate(2, 'a', 'c'), recordedUpdate(1, 'a', 'b')], 'c', [2]],
  ['the loser before the winner', [recordedUpdate(2, 'a', 'c'), recordedUpdate(1, 'a', 'b')], 'b', [1]],
  ['a way back to an earlier value', [recordedUpdate(2, 'b', 'a'), recordedUpdate(1, 'a', 'b')], 'a', [2, 1]],
  [
    'a refused update in between',
    [recordedUpdate(3, 'b', 'd'), recordedUpdate(2, 'b', 'c', 'refused'), recordedUpdate(1, 'a', 'b')],
    'd',
    [3, 1],
  ],
])('decides about %s', (_, updates, now, happened) => {
  expect([...appliedPushIds(updates, now)]).toEqual(happened);
});
