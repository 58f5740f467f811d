import { toGitCredential, findPullRequestRefPattern } from './upstream-hosts';

it.each([
  ['remote', 't', 't:x-oauth-basic'],
  ['repohost_server', 'wren:t', 'wren:t'],
  ['repohost', 'wren:t:u', 'wren:t:u'],
  ['repohost', 'wren@example.org:t:u', 'x-bitbucket-api-token-auth:t:u'],
  ['git', 'wren:t', 'wren:t'],
] as const)('gives git the credential of a %s host: %s', (kind, credential, expected) => {
  expect(toGitCredential(kind, credential)).toBe(expected);
});

it('gives git no credential for a public repository', () => {
  expect(toGitCredential('git', null)).toBeNull();
});

it('knows hosts that keep the heads of pull requests', () => {
  expect((['remote', 'repohost_server', 'repohost', 'git'] as const).map(findPullRequestRefPattern)).toEqual([
    'refs/pull/*/head',
    'refs/pull-requests/*/from',
    null,
    null,
  ]);
});
