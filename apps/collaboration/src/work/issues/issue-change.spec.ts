import { computeIssueChange, keepPermittedIssueChanges, changesMoreThanState } from './issue-change';
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
const computeChange = (issue: Issue, update: Parameters<typeof computeIssueChange>[1]) =>
  computeIssueChange(issue, update, { actorId: 7, at });

function taskItems(count: number, mark: string): string {
  return `- [${mark}] a\n`.repeat(count);
}

test.each([
  [{}, { title: 'Broken window' }, ['changed title from **Broken {-door-}** to **Broken {+window+}**']],
  [{}, { title: 'A broken door' }, ['changed title from **{-B-}roken door** to **{+A b+}roken door**']],
  [{}, { description: 'text' }, ['changed the description']],
  [{ description: '- [ ] a' }, { description: '- [x] a' }, ['marked the task **a** as completed']],
  [{ description: '- [x] a' }, { description: '- [ ] a' }, ['marked the task **a** as incomplete']],
  [
    { description: taskItems(20, ' ') },
    { description: taskItems(20, 'x') },
    Array(20).fill('marked the task **a** as completed'),
  ],
  [{ description: taskItems(21, ' ') }, { description: taskItems(21, 'x') }, ['marked 21 tasks as completed']],
  [
    { description: taskItems(21, ' ') + taskItems(1, 'x') },
    { description: taskItems(21, 'x') + taskItems(1, ' ') },
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
])('for the issue %j and the update %j the system notes are %j', (issue, update, notes) => {
  expect(computeChange(anIssue(issue), update).notes).toEqual(notes);
});

test('closing sets the user and the time, reopening clears both', () => {
  expect(computeChange(anIssue(), { stateEvent: 'close' })).toMatchObject({
    columns: { state: 'closed', closedAt: at, closedById: 7 },
    state: 'closed',
    textChanged: false,
  });
  expect(computeChange(anIssue({ state: 'closed' }), { stateEvent: 'reopen' }).columns).toEqual({
    state: 'opened',
    closedAt: null,
    closedById: null,
    duplicatedToId: null,
  });
});

test('a new description sets the task counts', () => {
  expect(computeChange(anIssue(), { description: '- [x] a\n- [ ] b' })).toMatchObject({
    columns: { taskCount: 2, completedTaskCount: 1 },
    textChanged: true,
  });
});

test('fields that the caller may not set are left out', () => {
  const update = {
    title: 't',
    assigneeIds: [1],
    dueOn: null,
    confidential: true,
    discussionLocked: true,
    updatedAt: at,
  };
  expect(keepPermittedIssueChanges(update, { plan: false, weigh: false, backdate: false })).toEqual({ title: 't' });
  expect(keepPermittedIssueChanges(update, { plan: true, weigh: true, backdate: true })).toEqual(update);
});

test.each<[number | null, boolean, object]>([
  [3, true, { weight: 3 }],
  [3, false, {}],
  [null, false, { weight: null }],
])('an update to weight %j, if the plan has weights: %j, keeps %j', (weight, weigh, kept) => {
  expect(keepPermittedIssueChanges({ weight }, { plan: true, weigh, backdate: false })).toEqual(kept);
  expect(keepPermittedIssueChanges({ weight }, { plan: false, weigh: false, backdate: false })).toEqual({});
});

test('an update of the state alone is recognized', () => {
  expect(changesMoreThanState({ stateEvent: 'close', title: undefined })).toBe(false);
  expect(changesMoreThanState({ stateEvent: 'close', title: 'x' })).toBe(true);
});
