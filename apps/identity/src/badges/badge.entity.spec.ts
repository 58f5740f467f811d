import { Invalid } from '@rookery/kernel';
import { Badge } from './badge.entity';

const urls = { link_url: 'https://example.com/nest', image_url: 'https://example.com/nest.svg' };

test('the length of a badge name is counted in characters', () => {
  const name = '\u{1F95A}'.repeat(255);
  expect(Badge.create({ ...urls, name }, new Date()).name).toBe(name);
  expect(() => Badge.create({ ...urls, name: `${name}\u{1F95A}` }, new Date())).toThrow(
    new Invalid({ name: ['is too long (maximum is 255 characters)'] }),
  );
});
