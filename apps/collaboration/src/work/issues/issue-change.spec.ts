import { changeOf, permitted, wantsMoreThanState } from './issue-change';
import { Issue } from './issue.entity';

const at = new Date('2026-11-21T10:00:00.000Z');
const anIssue = (over: Partial<Issue> = {}): Issue =>
  Object.assign(new Issue(), {
    title: 'Broken door',
    description: null,
    state: 'opened',
    confidential: false,
    discussionLocked: null,
    issueType: 'issue',
    dueOn: null,
    ...over,
  });
const change = (issue: Issue, wish: Parameters<typeof changeOf>[1]) => changeOf(issue, wish, { actorId: 7, at });

function boxes(count: number, mark: string): string {
  return `- [${mark}] a\n`.repeat(count);
}

test.each([
  [{}, { title: 'Broken window' }, ['changed title from **Broken {-door-}** to **Broken {+window+}**']],
  [{}, { title: 'A broken door' }, ['changed title from **{-B-}roken door** to **{+A b+}roken door**']],
  [{}, { description: 'text' }, ['changed the description']],
  [{ description: '- [ ] a' }, { description: '- [x] a' }, ['marked the task **a** as completed']],
  [{ description: '- [x] a' }, { description: '- [ ] a' }, ['marked the task **a** as incomplete']],
  [
    { description: boxes(20, ' ') },
    { description: boxes(20, 'x') },
    Array(20).fill('marked the task **a** as completed'),
  ],
  [{ description: boxes(21, ' ') }, { description: boxes(21, 'x') }, ['marked 21 tasks as completed']],
  [
    { description: boxes(21, ' ') + boxes(1, 'x') },
    { description: boxes(21, 'x') + boxes(1, ' ') },
    ['marked 21 tasks as completed and 1 task as incomplete'],
  ],
  [{}, { dueOn: '2026-12-01' }, ['changed due date to December 1, 2026']],
  [{ dueOn: '2026-12-01' }, { dueOn: null }, ['removed due date']],
  [{}, { confidential: true }, ['made the issue confidential']],
  [{ confidential: true }, { confidential: false }, ['made the issue visible to everyone']],
  [{}, { discussionLocked: true }, ['locked this issue']],
  [{ discussionLocked: true }, { discussionLocked: false }, ['unlocked this issue']],
  [{}, { discussionLocked: false }, []],
  [{}, { stateEvent: 'close' as const }, ['closed']],
  [{ state: 'closed' as const }, { stateEvent: 'reopen' as const }, ['reopened']],
  [{}, { stateEvent: 'reopen' as const }, []],
  [{}, { title: 'Broken door' }, []],
])('%j and %j is told as %j', (issue, wish, notes) => {
  expect(change(anIssue(issue), wish).notes).toEqual(notes);
});

test('closing sets who and when, opening again clears it', () => {
  expect(change(anIssue(), { stateEvent: 'close' })).toMatchObject({
    columns: { state: 'closed', closedAt: at, closedById: 7 },
    state: 'closed',
    textChanged: false,
  });
  expect(change(anIssue({ state: 'closed' }), { stateEvent: 'reopen' }).columns).toEqual({
    state: 'opened',
    closedAt: null,
    closedById: null,
    duplicatedToId: null,
  });
});

test('a new description counts its boxes anew', () => {
  expect(change(anIssue(), { description: '- [x] a\n- [ ] b' })).toMatchObject({
    columns: { taskCount: 2, completedTaskCount: 1 },
    textChanged: true,
  });
});

test('what the caller may not set is left out', () => {
  const wish = { title: 't', assigneeIds: [1], dueOn: null, confidential: true, discussionLocked: true, updatedAt: at };
  expect(permitted(wish, { plan: false, weigh: false, backdate: false })).toEqual({ title: 't' });
  expect(permitted(wish, { plan: true, weigh: true, backdate: true })).toEqual(wish);
});

test.each<[number | null, boolean, object]>([
  [3, true, { weight: 3 }],
  [3, false, {}],
  [null, false, { weight: null }],
])('a weight of %j is wished for, with weights in the plan: %j', (weight, weigh, counts) => {
  expect(permitted({ weight }, { plan: true, weigh, backdate: false })).toEqual(counts);
  expect(permitted({ weight }, { plan: false, weigh: false, backdate: false })).toEqual({});
});

test('closing alone is told from more', () => {
  expect(wantsMoreThanState({ stateEvent: 'close', title: undefined })).toBe(false);
  expect(wantsMoreThanState({ stateEvent: 'close', title: 'x' })).toBe(true);
});
