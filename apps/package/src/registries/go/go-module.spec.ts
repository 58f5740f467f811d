import { parseDeclaredGoModulePath, listModuleFolders, parseGoModulePath, unescapeGoPathOrVersion } from './go-module';

test.each([
  ['example.com/a', 'example.com/a'],
  ['example.com/!ada/!b', 'example.com/Ada/B'],
  ['example.com/Ada', null],
  ['example.com/!', null],
  ['example.com/!1', null],
  ['example.com/!!a', null],
])('%s is %s without escapes', (text, expected) => expect(unescapeGoPathOrVersion(text)).toBe(expected));

const BASE = 'example.com/nest/eggs';
test.each([
  [BASE, { folder: '', major: null }, ['']],
  [`${BASE}/v2`, { folder: '', major: 2 }, ['', 'v2']],
  [`${BASE}/sub/in`, { folder: 'sub/in', major: null }, ['sub/in']],
  [`${BASE}/sub/v10`, { folder: 'sub', major: 10 }, ['sub', 'sub/v10']],
  [`${BASE}/v1`, { folder: 'v1', major: null }, ['v1']],
])('%s is a module of the project', (path, expected, folders) => {
  const found = parseGoModulePath(BASE, path)!;
  expect(found).toEqual({ path, ...expected });
  expect(listModuleFolders(found)).toEqual(folders);
});

test.each([`${BASE}x`, 'example.com/nest', `${BASE}/`, `${BASE}/a//b`, `${BASE}/../x`, `${BASE}/.git`, `${BASE}/a b`])(
  '%j is none',
  (path) => expect(parseGoModulePath(BASE, path)).toBeNull(),
);

test.each([
  ['module example.com/a\n\ngo 1.19\n', 'example.com/a'],
  ['// A comment.\nmodule   "example.com/a" // Another.\r\n', 'example.com/a'],
  ['module `example.com/a`\n', 'example.com/a'],
  ['go 1.19\n', null],
  ['modules example.com/a\n', null],
  ['', null],
])('%j declares %s', (text, expected) => expect(parseDeclaredGoModulePath(text)).toBe(expected));
