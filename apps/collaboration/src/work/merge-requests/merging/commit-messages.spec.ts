import type { Commit, Identity } from '@rookery/git';
import { MERGE_TEMPLATE, renderMergeCommitMessage } from './commit-messages';
import type { MessageFacts } from './commit-messages';

const at = new Date(0);
const wren: Identity = { name: 'Wren', email: 'wren@example.org', at };
const jay: Identity = { name: 'Jay', email: 'jay@example.org', at };
const facts: MessageFacts = {
  sourceBranch: 'feature',
  targetBranch: 'main',
  sourceProjectId: 7,
  title: 'A title',
  description: 'A description',
  fullPath: 'nest/eggs',
  iid: 3,
  url: 'https://rookery.example/nest/eggs/-/merge_requests/3',
  issues: '',
  approvers: [],
  reviewers: [],
  merger: jay,
  author: wren,
};
const commit = (message: string, { name, email }: Identity): Commit =>
  ({ message, author: { name, email, seconds: 0, offsetMinutes: 0 } }) as Commit;
const COMMITS = [commit('First', wren), commit('Second\n\nwith text\n', jay)];

test('the default message leaves out issues and their blank line if there are none', () => {
  expect(renderMergeCommitMessage(MERGE_TEMPLATE, facts, [])).toBe(
    "Merge branch 'feature' into 'main'\n\nA title\n\nSee merge request nest/eggs!3",
  );
  expect(renderMergeCommitMessage(MERGE_TEMPLATE, { ...facts, issues: 'Closes #1 and #2' }, [])).toBe(
    "Merge branch 'feature' into 'main'\n\nA title\n\nCloses #1 and #2\n\nSee merge request nest/eggs!3",
  );
});

test.each([
  ['%{title} (%{local_reference})', 'A title (!3)'],
  ['%{reference} %{url} %{source_project_id}', 'nest/eggs!3 https://rookery.example/nest/eggs/-/merge_requests/3 7'],
  ['%{description}', 'A description'],
  ['%{first_commit}', 'First'],
  ['%{first_multiline_commit}', 'Second\n\nwith text'],
  ['%{first_multiline_commit_description}', 'with text'],
  ['%{all_commits}', '* First\n\n* Second\n\nwith text'],
  ['x\n\n%{co_authored_by}', 'x\n\nCo-authored-by: Jay <jay@example.org>'],
  ['%{merged_by}, %{merge_request_author}', 'Jay <jay@example.org>, Wren <wren@example.org>'],
  ['x\n%{approved_by}\n%{reviewed_by}\ny', 'x\ny'],
  ['%{unknown} %{title}', '%{unknown} A title'],
  ['%{title}\r\n\r\n%{source_branch}', 'A title\n\nfeature'],
])('renders %j', (template, text) => {
  expect(renderMergeCommitMessage(template, facts, COMMITS)).toBe(text);
});

test('without a commit of several lines the title takes its place', () => {
  expect(renderMergeCommitMessage('%{first_multiline_commit}', facts, [commit('First', wren)])).toBe('A title');
  expect(renderMergeCommitMessage('x%{first_multiline_commit_description}', facts, [commit('First', wren)])).toBe('x');
});

test('texts that hold placeholders are not rendered again', () => {
  expect(renderMergeCommitMessage('%{title}', { ...facts, title: '%{url}' }, [])).toBe('%{url}');
});
