import { makeViewer } from '@rookery/testing';
import type { ForkSource } from './fork.policy';
import { mayFork } from './fork.policy';

const person = makeViewer();
const admin = makeViewer({ isAdmin: true });
const forkSource = (over: Partial<ForkSource>): ForkSource => ({
  visibility: 'public',
  level: 0,
  forking: 'enabled',
  repository: 'enabled',
  ...over,
});

test.each<[Partial<ForkSource>, boolean, boolean]>([
  [{}, true, true],
  [{ visibility: 'internal' }, true, true],
  [{ visibility: 'private', level: 15 }, false, true],
  [{ visibility: 'private', level: 20 }, true, true],
  [{ forking: 'private', level: 15 }, false, true],
  [{ repository: 'private', level: 20 }, true, true],
  [{ forking: 'disabled', level: 50 }, false, false],
  [{ repository: 'disabled', level: 50 }, false, false],
])('%j: a user %s, an administrator %s', (over, mayPerson, mayAdmin) => {
  expect([mayFork(person, forkSource(over)), mayFork(admin, forkSource(over))]).toEqual([mayPerson, mayAdmin]);
});
