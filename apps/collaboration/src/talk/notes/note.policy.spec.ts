import type { Role, SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { ParentFacts } from '../../base/noteables/reader';
import { notePolicy } from './note.policy';

const me = { userId: 7, isAdmin: false } as SignedInViewer;
const admin = { userId: 8, isAdmin: true } as SignedInViewer;
const projectAs = (role: Role, over: Partial<ParentFacts> = {}): ParentFacts => ({
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

// role, create, create internal, set the creation time, edit own, edit another's, edit own while locked
const RIGHTS: [Role, boolean, boolean, boolean, boolean, boolean, boolean][] = [
  ['none', true, false, false, true, false, false],
  ['guest', true, false, false, true, false, true],
  ['planner', true, false, false, true, false, true],
  ['reporter', true, true, false, true, false, true],
  ['developer', true, true, false, true, false, true],
  ['maintainer', true, true, false, true, true, true],
  ['owner', true, true, true, true, true, true],
];

test.each(RIGHTS)('permissions of the role %s', (role, create, internal, backdate, own, others, locked) => {
  const project = projectAs(role);
  const mine = { authorId: 7, system: false };
  const theirs = { authorId: 9, system: false };
  expect([
    notePolicy.mayCreate(me, project, false),
    notePolicy.mayCreate(me, project, true),
    notePolicy.mayBackdate(me, project),
    notePolicy.mayEdit(me, project, mine, false),
    notePolicy.mayEdit(me, project, theirs, false),
    notePolicy.mayEdit(me, project, mine, true),
  ]).toEqual([create, internal, backdate, own, others, locked]);
});

test('an administrator may do everything except edit system notes and write in archived projects', () => {
  const project = projectAs('none');
  expect(notePolicy.mayCreate(admin, project, true)).toBe(true);
  expect(notePolicy.mayBackdate(admin, project)).toBe(true);
  expect(notePolicy.mayEdit(admin, project, { authorId: 9, system: false }, true)).toBe(true);
  expect(notePolicy.mayEdit(admin, project, { authorId: 8, system: true }, false)).toBe(false);
  const archived = projectAs('owner', { archived: true });
  expect(notePolicy.mayCreate(admin, archived, false)).toBe(false);
  expect(notePolicy.mayEdit(me, archived, { authorId: 7, system: false }, false)).toBe(false);
});
