import { Invalid } from '@rookery/kernel';
import { applySnippetFileActions, encodeUrlPath } from './snippet-files';
import type { FileAction, ExistingFile } from './snippet-files';

const existing: readonly ExistingFile[] = [
  { id: 1, path: 'a', bytes: 1 },
  { id: 2, path: 'b', bytes: 2 },
];
const createAction = (file_path: string, content = 'x'): FileAction => ({ action: 'create', file_path, content });
const moveAction = (previous_path: string, file_path: string): FileAction => ({
  action: 'move',
  previous_path,
  file_path,
});
const deleteAction = (file_path: string): FileAction => ({ action: 'delete', file_path });
const filesAfterActions = (...actions: FileAction[]) =>
  applySnippetFileActions(existing, actions).map(({ id, path, content }) => [id, path, content]);

describe('applySnippetFileActions applies the actions in their order', () => {
  it.each<[string, FileAction[], unknown]>([
    ['no action', [], [[1, 'a', null], [2, 'b', null]]],
    ['a new file', [createAction('c')], [[1, 'a', null], [2, 'b', null], [null, 'c', 'x']]],
    ['an update', [{ action: 'update', file_path: 'a', content: 'y' }], [[1, 'a', 'y'], [2, 'b', null]]],
    ['two files swap their paths', [moveAction('a', 't'), moveAction('b', 'a'), moveAction('t', 'b')], [[2, 'a', null], [1, 'b', null]]],
    ['a move with new content', [{ ...moveAction('a', 'c'), content: 'y' }], [[2, 'b', null], [1, 'c', 'y']]],
    ['a new file at the path of a deleted one', [deleteAction('a'), createAction('a')], [[2, 'b', null], [null, 'a', 'x']]],
    ['a new file that is updated and moved', [createAction('c'), { action: 'update', file_path: 'c', content: 'y' }, moveAction('c', 'd')], [[1, 'a', null], [2, 'b', null], [null, 'd', 'y']]],
  ])('%s', (_, actions, expected) => expect(filesAfterActions(...actions)).toEqual(expected)); // oxfmt-ignore
});

describe('applySnippetFileActions refuses invalid actions', () => {
  it.each<[string, FileAction[]]>([
    ["can't be blank", [deleteAction('a'), deleteAction('b')]],
    ['are too many (maximum is 10)', Array.from({ length: 9 }, (_, at) => createAction(`f${at}`))],
    ['are too big (maximum is 4194304 bytes)', [createAction('c', 'é'.repeat(2 * 1024 * 1024 - 1))]],
    ['have a already', [createAction('a')]],
    ['have b already', [moveAction('a', 'b')]],
    ['have no c', [deleteAction('c')]],
    ['have no a', [moveAction('a', 'c'), { action: 'update', file_path: 'a', content: 'y' }]],
    ['have no c', [moveAction('c', 'd')]],
    ['have an action without file_path', [{ action: 'create', content: 'x' }]],
    ['have an action without content', [{ action: 'update', file_path: 'a' }]],
    ['have an action without file_path', [{ action: 'delete' }]],
    ['have an action without previous_path', [{ action: 'move', file_path: 'c' }]],
    ['have an action without file_path', [{ action: 'move', previous_path: 'a' }]],
  ])('%s', (problem, actions) =>
    expect(() => filesAfterActions(...actions)).toThrow(new Invalid({ files: [problem] })),
  );

  it('accepts files that exactly reach the limits', () => {
    expect(filesAfterActions(createAction('c', 'x'.repeat(4 * 1024 * 1024 - 3)))).toHaveLength(3);
    expect(filesAfterActions(...Array.from({ length: 8 }, (_, at) => createAction(`f${at}`)))).toHaveLength(10);
  });
});

describe('the path of a file', () => {
  it.each(['c', 'c d.txt', 'src/c.rs', '..c', '...', 'ä/🐦', '-', `"c"`, 'x'.repeat(255)])('can be %j', (path) => {
    expect(filesAfterActions(createAction(path)).at(-1)![1]).toBe(path);
  });

  it.each([
    '',
    ' ',
    '.',
    '..',
    '../c',
    'c/..',
    'c/../d',
    './c',
    '/c',
    'c/',
    'c//d',
    'c/ /d',
    'c\nd',
    'c\r\nx: y',
    'c\0',
    'c\u0085',
    'c\u2028',
    'c\\d',
    'c%2fd',
    '100%20.txt',
    'x'.repeat(256),
  ])('cannot be %j', (path) => {
    const invalid = new Invalid({ files: ['have a path that is invalid'] });
    expect(() => filesAfterActions(createAction(path))).toThrow(invalid);
    expect(() => filesAfterActions(moveAction('a', path))).toThrow(invalid);
  });

  it('keeps its slashes in URLs', () => {
    expect(encodeUrlPath('src/a b#?%"ä.txt')).toBe('src/a%20b%23%3F%25%22%C3%A4.txt');
  });
});
