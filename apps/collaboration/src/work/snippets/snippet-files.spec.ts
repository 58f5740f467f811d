import { Invalid } from '@rookery/kernel';
import { filesAfter, encodeUrlPath } from './snippet-files';
import type { FileAction, ExistingFile } from './snippet-files';

const existing: readonly ExistingFile[] = [
  { id: 1, path: 'a', bytes: 1 },
  { id: 2, path: 'b', bytes: 2 },
];
const create = (file_path: string, content = 'x'): FileAction => ({ action: 'create', file_path, content });
const move = (previous_path: string, file_path: string): FileAction => ({ action: 'move', previous_path, file_path });
const remove = (file_path: string): FileAction => ({ action: 'delete', file_path });
const after = (...actions: FileAction[]) =>
  filesAfter(existing, actions).map(({ id, path, content }) => [id, path, content]);

describe('filesAfter applies the actions in their order', () => {
  it.each<[string, FileAction[], unknown]>([
    ['no action', [], [[1, 'a', null], [2, 'b', null]]],
    ['a new file', [create('c')], [[1, 'a', null], [2, 'b', null], [null, 'c', 'x']]],
    ['an update', [{ action: 'update', file_path: 'a', content: 'y' }], [[1, 'a', 'y'], [2, 'b', null]]],
    ['two files swap their paths', [move('a', 't'), move('b', 'a'), move('t', 'b')], [[2, 'a', null], [1, 'b', null]]],
    ['a move with new content', [{ ...move('a', 'c'), content: 'y' }], [[2, 'b', null], [1, 'c', 'y']]],
    ['a new file at the path of a deleted one', [remove('a'), create('a')], [[2, 'b', null], [null, 'a', 'x']]],
    ['a new file that is updated and moved', [create('c'), { action: 'update', file_path: 'c', content: 'y' }, move('c', 'd')], [[1, 'a', null], [2, 'b', null], [null, 'd', 'y']]],
  ])('%s', (_, actions, expected) => expect(after(...actions)).toEqual(expected)); // oxfmt-ignore
});

describe('filesAfter refuses invalid actions', () => {
  it.each<[string, FileAction[]]>([
    ["can't be blank", [remove('a'), remove('b')]],
    ['are too many (maximum is 10)', Array.from({ length: 9 }, (_, at) => create(`f${at}`))],
    ['are too big (maximum is 4194304 bytes)', [create('c', 'é'.repeat(2 * 1024 * 1024 - 1))]],
    ['have a already', [create('a')]],
    ['have b already', [move('a', 'b')]],
    ['have no c', [remove('c')]],
    ['have no a', [move('a', 'c'), { action: 'update', file_path: 'a', content: 'y' }]],
    ['have no c', [move('c', 'd')]],
    ['have an action without file_path', [{ action: 'create', content: 'x' }]],
    ['have an action without content', [{ action: 'update', file_path: 'a' }]],
    ['have an action without file_path', [{ action: 'delete' }]],
    ['have an action without previous_path', [{ action: 'move', file_path: 'c' }]],
    ['have an action without file_path', [{ action: 'move', previous_path: 'a' }]],
  ])('%s', (problem, actions) => expect(() => after(...actions)).toThrow(new Invalid({ files: [problem] })));

  it('accepts files that exactly reach the limits', () => {
    expect(after(create('c', 'x'.repeat(4 * 1024 * 1024 - 3)))).toHaveLength(3);
    expect(after(...Array.from({ length: 8 }, (_, at) => create(`f${at}`)))).toHaveLength(10);
  });
});

describe('the path of a file', () => {
  it.each(['c', 'c d.txt', 'src/c.rs', '..c', '...', 'ä/🐦', '-', `"c"`, 'x'.repeat(255)])('can be %j', (path) => {
    expect(after(create(path)).at(-1)![1]).toBe(path);
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
    expect(() => after(create(path))).toThrow(invalid);
    expect(() => after(move('a', path))).toThrow(invalid);
  });

  it('keeps its slashes in URLs', () => {
    expect(encodeUrlPath('src/a b#?%"ä.txt')).toBe('src/a%20b%23%3F%25%22%C3%A4.txt');
  });
});
