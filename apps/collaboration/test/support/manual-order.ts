import type { Test } from 'supertest';

/** Actions on issues or child epics, which users can order manually within an epic. */
interface OrderedList {
  /** Adds an issue or child with this title; returns the id by which moves refer to it. */
  put(title: string): Promise<number>;
  /** Returns the titles in list order. */
  order(): Promise<string[]>;
  move(id: number | undefined, wish: object): Test;
  /** Error message of a refused move. */
  readonly refusal: string;
}

/** Declares shared tests for issues and children of an epic. Three items are added before each test. */
export function manualOrderTests({ put, order, move, refusal: stuck }: OrderedList) {
  const ids: Record<string, number> = {};
  beforeEach(async () => {
    for (const title of ['c', 'b', 'a']) ids[title] = await put(title);
  });

  it('begins with the last addition', async () => expect(await order()).toEqual(['a', 'b', 'c']));

  it.each<[string, string, Record<string, string>, string[]]>([
    ['behind one', 'a', { move_before_id: 'b' }, ['b', 'a', 'c']],
    ['behind the last', 'a', { move_before_id: 'c' }, ['b', 'c', 'a']],
    ['before one', 'c', { move_after_id: 'a' }, ['c', 'a', 'b']],
    ['between two', 'c', { move_before_id: 'a', move_after_id: 'b' }, ['a', 'c', 'b']],
  ])('is changed: %s', async (_, title, wish, expected) => {
    const sent = Object.fromEntries(Object.entries(wish).map(([name, other]) => [name, ids[other]]));
    const { body, headers } = await move(ids[title], sent).expect(200);
    expect((body as { title: string }[]).map((one) => one.title)).toEqual(expected);
    expect(headers['x-total']).toBe('3');
    expect(await order()).toEqual(expected);
  });

  it('is not changed by invalid moves', async () => {
    const answerTo = async (wish: object): Promise<unknown> => {
      const { status, body } = await move(ids['a'], wish);
      return [status, body];
    };
    for (const wish of [
      { move_before_id: 0 },
      { move_after_id: ids['a'] },
      { move_before_id: ids['c'], move_after_id: ids['b'] },
    ]) {
      expect(await answerTo(wish)).toEqual([400, { message: { error: stuck } }]);
    }
    const missing = 'move_before_id, move_after_id are missing, at least one parameter must be provided';
    expect(await answerTo({})).toEqual([400, { error: missing }]);
    expect(await order()).toEqual(['a', 'b', 'c']);
  });
  return ids;
}
