import type { Secrecy, SecretQuestion } from './secrets';
import { canSeeSecret } from './secrets';

const [AUTHOR, ASSIGNEE, OTHER] = [2, 3, 4];
const issue: Secrecy = { confidential: true, author: AUTHOR, assignees: [ASSIGNEE], isDeleted: false };
const canSee = (reader: number | null, level: number, over: Partial<SecretQuestion> = {}, secrecy = issue) =>
  canSeeSecret(secrecy, { kind: 'issue', reader, ...over }, level);

describe('a confidential issue', () => {
  it('is visible to planners, to its author while a member, and to assignees', () => {
    expect([10, 15, 20].map((level) => canSee(OTHER, level))).toEqual([false, true, true]);
    expect([0, 10].map((level) => canSee(AUTHOR, level))).toEqual([false, true]);
    expect(canSee(ASSIGNEE, 0)).toBe(true);
    expect(canSee(null, 0)).toBe(false);
  });

  it('is visible to all who see its project when it is no longer confidential, and to no user when it is deleted', () => {
    expect(canSee(null, 0, {}, { ...issue, confidential: false })).toBe(true);
    expect(canSee(OTHER, 50, {}, { ...issue, isDeleted: true })).toBe(false);
  });

  it('has an internal note that reporters can see', () => {
    expect([15, 20].map((level) => canSee(OTHER, level, { isNote: true }))).toEqual([false, true]);
    expect(canSee(ASSIGNEE, 15, { isNote: true })).toBe(false);
  });

  it('is in the list of assigned issues only for assignees', () => {
    expect([OTHER, ASSIGNEE].map((reader) => canSee(reader, 50, { isAssignedList: true }))).toEqual([false, true]);
  });
});

it('a confidential epic is visible by role alone', () => {
  expect(canSee(AUTHOR, 10, { kind: 'epic' })).toBe(false);
  expect(canSee(ASSIGNEE, 10, { kind: 'epic' })).toBe(false);
  expect(canSee(OTHER, 15, { kind: 'epic' })).toBe(true);
});
