import {
  cleanNamespacePath,
  groupNameProblems,
  projectNameProblems,
  projectPathFrom,
  projectPathProblems,
  subgroupPathProblems,
  topLevelPathProblems,
} from './path-rules';

describe('paths of groups and users', () => {
  it.each(['acme', 'a_b', 'Team-1', 'a.b', '_x', '.dot', 'x'.repeat(255)])('accept %s', (path) => {
    expect(topLevelPathProblems(path)).toEqual([]);
  });

  it.each(['-acme', 'acme.', 'acme.git', 'acme.atom', 'ac me', 'ac/me', 'çedille'])('refuse %s', (path) => {
    expect(topLevelPathProblems(path)).toEqual([
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
    ]);
  });

  it('have minimum and maximum lengths', () => {
    expect(topLevelPathProblems('')).toEqual(["can't be blank"]);
    expect(topLevelPathProblems('a')).toEqual(['is too short (minimum is 2 characters)']);
    expect(topLevelPathProblems('a'.repeat(256))).toEqual(['is too long (maximum is 255 characters)']);
  });

  it.each(['api', 'API', 'users', 'robots.txt', 'v2'])('reserves %s at the top level only', (path) => {
    expect(topLevelPathProblems(path)).toEqual([`${path} is a reserved name`]);
    expect(subgroupPathProblems(path, 'acme')).toEqual([]);
  });

  it.each(['tree', 'Blob', 'wikis'])('reserves %s below a group', (path) => {
    expect(subgroupPathProblems(path, 'acme')).toEqual([`${path} is a reserved name`]);
    expect(topLevelPathProblems(path)).toEqual([]);
  });
});

describe('paths of projects', () => {
  it.each(['web', '.github', 'a', 'x.y'])('accept %s', (path) => expect(projectPathProblems(path, 'acme')).toEqual([]));

  it.each(['-web', 'web.git', 'a b', '..'])('refuse %s', (path) => {
    expect(projectPathProblems(path, 'acme')).toEqual([
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
    ]);
  });

  it('reserves words that could be read as a route of the parent project', () => {
    expect(projectPathProblems('folders', 'acme/environments')).toEqual(['folders is a reserved name']);
    expect(projectPathProblems('objects', 'acme/info/lfs')).toEqual(['objects is a reserved name']);
    expect(projectPathProblems('folders', 'acme')).toEqual([]);
  });

  it.each([
    ['web', 'web'],
    ['My Project', 'my-project'],
    ['Crème brûlée!', 'creme-brulee'],
    ['Release 1.0', 'release-1-0'],
  ])('is derived from the name %s', (name, path) => expect(projectPathFrom(name)).toBe(path));
});

describe('names', () => {
  it.each(['Web', '9 lives', '🚀 rockets', '_x', 'C++', 'a – b', 'Ünïcode'])('accept %s for a project', (name) => {
    expect(projectNameProblems(name)).toEqual([]);
  });
  it.each([' web', '-x', 'a/b', '<b>', 'web?'])('refuse %s for a project', (name) => {
    expect(projectNameProblems(name)[0]).toContain('can contain only letters, digits, emoji');
  });
  it('may contain parentheses for groups, not for projects', () => {
    expect(groupNameProblems('Team (old)')).toEqual([]);
    expect(projectNameProblems('Team (old)')).not.toEqual([]);
    expect(groupNameProblems('<script>')).not.toEqual([]);
  });
  it.each([projectNameProblems, groupNameProblems])('are measured in characters', (problems) => {
    expect(problems('\u{1F95A}'.repeat(255))).toEqual([]);
    expect(problems('\u{1F95A}'.repeat(256))).toEqual(['is too long (maximum is 255 characters)']);
  });
});

describe('the beginning of a suggested path', () => {
  it.each([
    ['my-group', 'my-group'],
    ['ada@example.com', 'ada'],
    ['tool.git', 'tool'],
    ['feed.ATOM', 'feed'],
    ['--odd', 'odd'],
    ['dots...', 'dots'],
    ['a b/c ü', 'abc'],
    ['@example.com', 'blank'],
    ['...', 'blank'],
    ['Ünder_Score.x', 'nder_Score.x'],
  ])('of %j is %j', (text, path) => expect(cleanNamespacePath(text)).toBe(path));
});
