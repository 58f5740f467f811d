import { userSummary } from '@rookery/directory';
import { issueDetailShape, issueShape } from '../../src/work/issues/issue.shape';
import { noteAuthorShape, personShape } from '../../src/base/noteables/person.shape';

const keysOf = (presenter: { readonly schema: { readonly [key: string]: unknown } }): string[] =>
  Object.keys(presenter.schema['properties'] as object);

test('user summaries have the same keys from PostgreSQL and from the presenter', () => {
  expect(keysOf(personShape.presenter)).toEqual(keysOf(userSummary));
});

test('the author of a note is a user summary with e-mail and created_at', () => {
  expect(keysOf(noteAuthorShape.presenter)).toEqual([...keysOf(userSummary), 'email', 'created_at']);
  // `created_at` of a private profile is hidden from other users.
  expect(noteAuthorShape.presenter.schema['required']).toEqual([...keysOf(userSummary), 'email']);
});

test('a single issue has the keys of a listed one and `subscribed`', () => {
  expect(keysOf(issueDetailShape.presenter)).toEqual([...keysOf(issueShape.presenter), 'subscribed']);
});
