import type { Secrecy, SecretQuestion } from './secrets';
import { knowsOf } from './secrets';

const [AUTHOR, ASSIGNEE, OTHER] = [2, 3, 4];
const issue: Secrecy = { confidential: true, author: AUTHOR, assignees: [ASSIGNEE], gone: false };
const asked = (reader: number | null, level: number, over: Partial<SecretQuestion> = {}, secrecy = issue) =>
  knowsOf(secrecy, { kind: 'issue', reader, ...over }, level);

describe('a confidential issue', () => {
  it('is known to planners, to its author while a member, and to assignees', () => {
    expect([10, 15, 20].map((level) => asked(OTHER, level))).toEqual([false, true, true]);
    expect([0, 10].map((level) => asked(AUTHOR, level))).toEqual([false, true]);
    expect(asked(ASSIGNEE, 0)).toBe(true);
    expect(asked(null, 0)).toBe(false);
  });

  it('is known to all who see its project when it is confidential no more, and to nobody when it is gone', () => {
    expect(asked(null, 0, {}, { ...issue, confidential: false })).toBe(true);
    expect(asked(OTHER, 50, {}, { ...issue, gone: true })).toBe(false);
  });

  it('has an internal note for reporters who know of the issue', () => {
    expect([15, 20].map((level) => asked(OTHER, level, { isNote: true }))).toEqual([false, true]);
    expect(asked(ASSIGNEE, 15, { isNote: true })).toBe(false);
  });

  it('is in the list of what somebody is assigned to for assignees alone', () => {
    expect([OTHER, ASSIGNEE].map((reader) => asked(reader, 50, { isMine: true }))).toEqual([false, true]);
  });
});

it('a confidential epic is known by role alone', () => {
  expect(asked(AUTHOR, 10, { kind: 'epic' })).toBe(false);
  expect(asked(ASSIGNEE, 10, { kind: 'epic' })).toBe(false);
  expect(asked(OTHER, 15, { kind: 'epic' })).toBe(true);
});
