import { findBadgePlaceholders, badgeUrlProblems, replaceBadgePlaceholders } from './badge-url';
import type { BadgeFacts } from './badge-url';

const facts: BadgeFacts = {
  project_path: 'team/web',
  project_title: 'Web site',
  host_server: 'rookery.example',
  pages_domain: 'pages.rookery.example',
  commit_sha: null,
  latest_tag: '$&',
};

it.each([
  ['https://x/%{project_path}', 'https://x/team/web'],
  ['https://x/%7Bproject_path%7D', 'https://x/team/web'],
  ['https://x/%7bproject_path%7d', 'https://x/team/web'],
  ['https://x/%%7Bproject_path%7D', 'https://x/team/web'],
  ['https://x/%25%7Bproject_path%7D', 'https://x/team/web'],
  ['https://x/%{project_path}/%{project_path}', 'https://x/team/web/team/web'],
  ['https://%{gitlab_server}/%{host_server}', 'https://rookery.example/rookery.example'],
  ['https://%{gitlab_pages_domain}', 'https://pages.rookery.example'],
  ['https://x/%{project_title}', 'https://x/Web site'],
  ['https://x/%{commit_sha}', 'https://x/%{commit_sha}'],
  ['https://x/%{default_branch}', 'https://x/%{default_branch}'],
  ['https://x/%{latest_tag}', 'https://x/$&'],
  ['https://x/%{unknown}', 'https://x/%{unknown}'],
  ['https://x/{project_path}', 'https://x/{project_path}'],
  ['https://x/%{PROJECT_PATH}', 'https://x/%{PROJECT_PATH}'],
  ['https://x/%{constructor}', 'https://x/%{constructor}'],
  ['https://x/100%25', 'https://x/100%25'],
])('resolves %s', (text, expected) => {
  expect(replaceBadgePlaceholders(text, facts)).toBe(expected);
});

it('finds the placeholders that occur', () => {
  const texts = ['https://x/%{project_id}?%{nothing}', 'https://%7Bgitlab_server%7D/%{commit_sha}/%{project_id}'];
  expect([...findBadgePlaceholders(texts)]).toEqual(['project_id', 'host_server', 'commit_sha']);
});

it.each<[string, string | null]>([
  ['https://example.com/a.svg', null],
  ['http://localhost:3000', null],
  ['http://10.0.0.1/%{x}', null],
  ['https://%{host_server}/%{project_path}', null],
  ['https://pages.%{pages_domain}:%{project_id}/a b', null],
  ['HTTPS://one-label', null],
  ['https://ex.com/%7Bproject_path%7D', null],
  ['https://ex.com/%zz', null],
  [`https://x/${'y'.repeat(2038)}`, null],
  [`https://x/${'y'.repeat(2039)}`, 'is too long (maximum is 2048 characters)'],
  ['javascript:alert(1)', 'is blocked: Only allowed schemes are http, https'],
  ['data:text/html,x', 'is blocked: Only allowed schemes are http, https'],
  ['ftp://example.com', 'is blocked: Only allowed schemes are http, https'],
  ['java\nscript:alert(1)', 'must be a valid URL'],
  [' https://example.com', 'must be a valid URL'],
  ['', 'must be a valid URL'],
  ['example.com/a.svg', 'must be a valid URL'],
  ['https://', 'must be a valid URL'],
  ['//example.com', 'must be a valid URL'],
  ['%{host_server}', 'must be a valid URL'],
])('validates %j', (text, problem) => {
  expect(badgeUrlProblems(text)).toEqual(problem === null ? [] : [problem]);
});
