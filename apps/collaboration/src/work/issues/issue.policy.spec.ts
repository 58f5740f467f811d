import type { Role, SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { ParentFacts } from '../../base/noteables/reader';
import { issuePolicy } from './issue.policy';

const me = { userId: 7, isAdmin: false } as SignedInViewer;
const projectWithRole = (role: Role, over: Partial<ParentFacts> = {}): ParentFacts => ({
  id: 1,
  fullPath: 'g/p',
  visibility: 'public',
  archived: false,
  issuesAccessLevel: 'enabled',
  mergeRequestsAccessLevel: 'enabled',
  snippetsAccessLevel: 'enabled',
  level: ACCESS_LEVELS[role],
  ...over,
});
const theirs = { authorId: 9, assigneeIds: [] };

// role, create, plan, back-date, edit another's, close another's, delete
const RIGHTS: [Role, ...boolean[]][] = [
  ['none', true, false, false, false, false, false],
  ['guest', true, false, false, false, false, false],
  ['planner', true, true, false, true, true, true],
  ['reporter', true, true, false, true, true, false],
  ['developer', true, true, false, true, true, false],
  ['maintainer', true, true, false, true, true, false],
  ['owner', true, true, true, true, true, true],
];

test.each(RIGHTS)('%s', (role, ...rights) => {
  const project = projectWithRole(role);
  expect([
    issuePolicy.mayCreate(me, project),
    issuePolicy.mayPlan(me, project),
    issuePolicy.mayBackdate(me, project),
    issuePolicy.mayEdit(me, project, theirs),
    issuePolicy.mayChangeState(me, project, theirs),
    issuePolicy.mayDelete(me, project),
  ]).toEqual(rights);
});

test('the author may edit, an assignee may close', () => {
  const project = projectWithRole('guest');
  expect(issuePolicy.mayEdit(me, project, { authorId: 7, assigneeIds: [] })).toBe(true);
  expect(issuePolicy.mayEdit(me, project, { authorId: 9, assigneeIds: [7] })).toBe(false);
  expect(issuePolicy.mayChangeState(me, project, { authorId: 9, assigneeIds: [7] })).toBe(true);
});

test('no user may open issues where they are off or archived, and only members where they are private', () => {
  expect(issuePolicy.mayCreate(me, projectWithRole('owner', { issuesAccessLevel: 'disabled' }))).toBe(false);
  expect(issuePolicy.mayCreate(me, projectWithRole('none', { issuesAccessLevel: 'private' }))).toBe(false);
  expect(issuePolicy.mayCreate(me, projectWithRole('guest', { issuesAccessLevel: 'private' }))).toBe(true);
  expect(issuePolicy.mayCreate(me, projectWithRole('owner', { archived: true }))).toBe(false);
});
