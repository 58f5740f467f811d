import { appliedPushIds } from './settled-states';
import type { RecordedUpdate } from './settled-states';

const update = (pushId: number, oldId: string, newId: string, state: RecordedUpdate['state'] = 'intended') => ({
  pushId,
  oldId,
  newId,
  state,
});

it.each([
  ['an update that happened', [update(1, 'a', 'b')], 'b', [1]],
  ['an update that did not', [update(1, 'a', 'b')], 'a', []],
  [
    'an update below later ones',
    [update(3, 'c', 'd', 'done'), update(2, 'b', 'c'), update(1, 'a', 'b')],
    'd',
    [3, 2, 1],
  ],
  ['the loser of two updates of the same value', [update(2, 'a', 'c'), update(1, 'a', 'b')], 'c', [2]],
  ['the loser before the winner', [update(2, 'a', 'c'), update(1, 'a', 'b')], 'b', [1]],
  ['a way back to an earlier value', [update(2, 'b', 'a'), update(1, 'a', 'b')], 'a', [2, 1]],
  [
    'a refused update in between',
    [update(3, 'b', 'd'), update(2, 'b', 'c', 'refused'), update(1, 'a', 'b')],
    'd',
    [3, 1],
  ],
])('decides about %s', (_, updates, now, happened) => {
  expect([...appliedPushIds(updates, now)]).toEqual(happened);
});
