import { userSummary } from '@rookery/directory';
import { noteAuthorShape, userShape } from '../../src/json-rows/user-shapes';
import { issueDetailPresenter, issuePresenter } from '../../src/issues/issue.shape';

const keysOf = (presenter: { readonly schema: { readonly [key: string]: unknown } }): string[] =>
  Object.keys(presenter.schema['properties'] as object);

test('people look alike, whether PostgreSQL or the presenter writes them', () => {
  expect(keysOf(userShape('u', 'http://localhost').presenter)).toEqual(keysOf(userSummary));
});

test('the author of a note is a person with an address and a date', () => {
  const author = noteAuthorShape('u', 'http://localhost', { viewer: '1', isAdmin: 'false' });
  expect(keysOf(author.presenter)).toEqual([...keysOf(userSummary), 'email', 'created_at']);
});

test('one issue is a listed one and whether the reader follows it', () => {
  expect(keysOf(issueDetailPresenter)).toEqual([...keysOf(issuePresenter), 'subscribed']);
});
