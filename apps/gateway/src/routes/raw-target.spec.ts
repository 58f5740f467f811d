import { parseRequestTarget, rewriteGoGetTarget } from './raw-target';

describe('parseRequestTarget', () => {
  it.each<[string, string, string[], string]>([
    ['/api/v4/todos', '/api/v4/todos', ['api', 'v4', 'todos'], ''],
    ['/api/v4/todos?a=b?c', '/api/v4/todos', ['api', 'v4', 'todos'], 'a=b?c'],
    ['/a/b/', '/a/b', ['a', 'b'], ''],
    ['//a///b//?x', '/a/b', ['a', 'b'], 'x'],
    ['/', '/', [], ''],
    ['///', '/', [], ''],
    [
      '/projects/group%2Fsub%2fname/issues',
      '/projects/group%2Fsub%2fname/issues',
      ['projects', 'group%2Fsub%2fname', 'issues'],
      '',
    ],
    ['/files/a.b.json/raw', '/files/a.b.json/raw', ['files', 'a.b.json', 'raw'], ''],
    ['/labels/50%25', '/labels/50%25', ['labels', '50%25'], ''],
    ['/labels/a%20b%C3%A9', '/labels/a%20b%C3%A9', ['labels', 'a%20b%C3%A9'], ''],
    ['/labels/...', '/labels/...', ['labels', '...'], ''],
    ['/files/.gitignore', '/files/.gitignore', ['files', '.gitignore'], ''],
  ])('cuts %s', (url, path, segments, query) => {
    expect(parseRequestTarget(url)).toEqual({ path, segments, query });
  });

  it.each([
    ['', 'nothing'],
    ['*', 'no path'],
    ['http://host/a', 'an absolute target'],
    ['/a/../b', 'a step up'],
    ['/a/./b', 'a step to itself'],
    ['/a/..', 'a step up at the end'],
    ['/a/%2e%2e/b', 'an encoded step up'],
    ['/a/.%2E/b', 'a half encoded step up'],
    ['/a/x%2F..%2Fy', 'a step up inside a segment'],
    ['/a/..%5Cy', 'a step up with a backslash'],
    ['/a/x%252Fy', 'a doubly encoded slash'],
    ['/a/x%252fy', 'a doubly encoded slash in small letters'],
    ['/a/%252e%252e', 'doubly encoded dots'],
    ['/a/x%255Cy', 'a doubly encoded backslash'],
    ['/a/x%00', 'an encoded NUL'],
    ['/a/x%0D%0Ay', 'an encoded line break'],
    ['/a/x%7F', 'an encoded DEL'],
    ['/a/x%2', 'a broken escape'],
    ['/a/x%zz', 'an escape without digits'],
    ['/a/x%C3', 'half a character'],
    ['/a/x%C0%AE', 'an overlong encoding'],
    ['/a\\b', 'a backslash'],
    ['/a#b', 'a fragment'],
    ['/a?b#c', 'a fragment behind the query'],
    ['/a/é', 'raw non-ASCII'],
    ['/a/b c', 'a raw space'],
  ])('refuses %j: %s', (url) => {
    expect(parseRequestTarget(url)).toBeNull();
  });
});

describe('rewriteGoGetTarget', () => {
  const served = (method: string, url: string): string => rewriteGoGetTarget(method, parseRequestTarget(url)!).path;

  it.each([
    ['GET', '/group/project/package?go-get=1', '/-/go-get/group/project/package'],
    ['GET', '/group/project?a=b&go-get=1', '/-/go-get/group/project'],
    ['GET', '/group/project?go-get=12', '/group/project'],
    ['GET', '/group/project?no-go-get=1', '/group/project'],
    ['POST', '/group/project?go-get=1', '/group/project'],
    ['GET', '/?go-get=1', '/'],
  ])('%s %s is served at %s', (method, url, path) => {
    expect(served(method, url)).toBe(path);
  });
});
