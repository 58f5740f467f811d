import { renderSuggestionCommitMessage } from './suggestion-message';
import type { MessageFacts } from './suggestion-message';

const FACTS: MessageFacts = {
  branchName: 'topic',
  paths: ['b.txt', 'a.txt'],
  projectName: 'The Nest',
  projectPath: 'nest',
  suggestionsCount: 3,
  user: { name: 'Wren Brown', username: 'wren' },
  coAuthors: [
    { name: 'Robin', email: 'robin@example.org' },
    { name: 'Finch', email: 'finch@example.org' },
  ],
};
const CO_AUTHORS = 'Co-authored-by: Robin <robin@example.org>\nCo-authored-by: Finch <finch@example.org>';

test.each([
  ['%{branch_name}', 'topic'],
  ['%{files_count}', '2'],
  ['%{file_paths}', 'a.txt, b.txt'],
  ['%{project_name}', 'The Nest'],
  ['%{project_path}', 'nest'],
  ['%{suggestions_count}', '3'],
  ['%{username}', 'wren'],
  ['%{user_full_name}', 'Wren Brown'],
  ['%{co_authored_by}', CO_AUTHORS],
  ['%{other} %{ username } %username', '%{other} %{ username } %username'],
  ['%{username}%{username}', 'wrenwren'],
  ['Text\r\n\n \n', 'Text'],
])('%j becomes %j', (template, expected) => {
  expect(renderSuggestionCommitMessage([template], FACTS)).toBe(expected);
});

test('values are not expanded again', () => {
  const user = { name: '%{username}', username: '$&' };
  expect(renderSuggestionCommitMessage(['%{user_full_name} %{username}'], { ...FACTS, user })).toBe('%{username} $&');
});

test.each<[string, (string | null | undefined)[], string]>([
  ['the message of the call', ['Mine', 'Of the project'], 'Mine'],
  ['the message of the project for a blank one', [' \n', 'Of the project'], 'Of the project'],
  ['the message of the project for none', [null, 'Of the project'], 'Of the project'],
  ['the default', [undefined, ' '], `Apply 3 suggestion(s) to 2 file(s)\n\n${CO_AUTHORS}`],
])('%s is used', (_, templates, expected) => {
  expect(renderSuggestionCommitMessage(templates, FACTS)).toBe(expected);
});

test('the default of a user who applies own suggestions has one line', () => {
  expect(renderSuggestionCommitMessage([], { ...FACTS, coAuthors: [] })).toBe('Apply 3 suggestion(s) to 2 file(s)');
});
