import { userSummary } from '@rookery/directory';
import { issueDetailShape, issueShape } from '../../src/work/issues/issue.shape';
import { noteAuthorShape, personShape } from '../../src/base/noteables/person.shape';

const keysOf = (presenter: { readonly schema: { readonly [key: string]: unknown } }): string[] =>
  Object.keys(presenter.schema['properties'] as object);

test('people look alike, whether PostgreSQL or the presenter writes them', () => {
  expect(keysOf(personShape.presenter)).toEqual(keysOf(userSummary));
});

test('the author of a note is a person with an address and a date', () => {
  expect(keysOf(noteAuthorShape.presenter)).toEqual([...keysOf(userSummary), 'email', 'created_at']);
  // Of a private profile others are not told since when it is there.
  expect(noteAuthorShape.presenter.schema['required']).toEqual([...keysOf(userSummary), 'email']);
});

test('one issue is a listed one and whether the reader follows it', () => {
  expect(keysOf(issueDetailShape.presenter)).toEqual([...keysOf(issueShape.presenter), 'subscribed']);
});
