import { cleanPath } from './suggested-path';

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
  ])('of %j is %j', (text, path) => expect(cleanPath(text)).toBe(path));
});
