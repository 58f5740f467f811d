import { READ_LIMIT } from '../markdown-blocks';
import { parseQuickActionCommands } from './parse-commands';

const KNOWN = new Set(['close', 'label', 'title', 'remove_due_date']);
const parseAndFormat = (text: string) => {
  const { commands, rest } = parseQuickActionCommands(text, (name) => KNOWN.has(name));
  return [commands.map(({ name, argument }) => (argument === '' ? name : `${name}: ${argument}`)), rest];
};

test.each<[string, string[], string]>([
  ['nothing to do', [], 'nothing to do'],
  ['/close', ['close'], ''],
  ['/CLOSE', ['close'], ''],
  ['/Remove_Due_Date  ', ['remove_due_date'], ''],
  ['/label ~a ~"b c" ', ['label: ~a ~"b c"'], ''],
  ['/title\tNew words', ['title: New words'], ''],
  ['Text\n\n/close\n', ['close'], 'Text'],
  ['/close\n\nText  \n/label ~a\n\nMore\n', ['close', 'label: ~a'], 'Text  \n\nMore'],
  ['a\r\n/close\r\nb', ['close'], 'a\r\nb'],
  ['a\r/close\rb', ['close'], 'a\rb'],
  ['/unknown\n/closed\n/close-me', [], '/unknown\n/closed\n/close-me'],
  ['/unknown\n/close', ['close'], '/unknown'],
  [' /close', [], ' /close'],
  ['please /close', [], 'please /close'],
  ['//close', [], '//close'],
  ['/close/now', [], '/close/now'],
  ['> /close', [], '> /close'],
  ['> they said\n/close', ['close'], '> they said'],
  ['>>>\n/close\n>>>\nso they said', [], '>>>\n/close\n>>>\nso they said'],
  ['>>>\n/close', ['close'], '>>>'],
  ['```\n/close\n```', [], '```\n/close\n```'],
  ['```\n/close', [], '```\n/close'],
  ['~~~js\n/close\n~~~\n/label ~a', ['label: ~a'], '~~~js\n/close\n~~~'],
  ['```\n>>>\n```\n/close\n>>>', ['close'], '```\n>>>\n```\n>>>'],
  ['    /close', [], '    /close'],
  ['- item\n/close', ['close'], '- item'],
  ['  untouched  \n', [], '  untouched  \n'],
  ['/shrug', [], '¯\\＿(ツ)＿/¯'],
  ['well\n/shrug who knows\n', [], 'well\nwho knows ¯\\＿(ツ)＿/¯\n'],
  ['/tableflip\n/close', ['close'], '(╯°□°)╯︵ ┻━┻'],
  ['/constructor\n/toString', [], '/constructor\n/toString'],
])('finds the quick actions of %j', (text, commands, rest) => {
  expect(parseAndFormat(text)).toEqual([commands, rest]);
});

test('a line that is too long and lines after the parsed part are text', () => {
  const long = `/title ${'x'.repeat(5000)}`;
  expect(parseAndFormat(long)).toEqual([[], long]);
  const far = `/close\n${'word\n'.repeat(READ_LIMIT / 5)}/close`;
  const [commands, rest] = parseAndFormat(far);
  expect(commands).toEqual(['close']);
  expect((rest as string).endsWith('word\n/close')).toBe(true);
});

test.each([
  ['commands', '/close\n'.repeat(140_000)],
  ['unknown commands', '/a\n'.repeat(330_000)],
  ['slashes', '/'.repeat(1_000_000)],
  ['one endless command', `/close ${'a'.repeat(1_000_000)}`],
  ['one endless name', `/${'a'.repeat(1_000_000)}`],
  ['blanks', `/close${' '.repeat(1_000_000)}`],
  ['empty lines', `/close\n${' \n'.repeat(500_000)}`],
  ['carriage returns', `/close\n${'\r'.repeat(1_000_000)}`],
  ['fences', `/close\n${'```\n'.repeat(250_000)}`],
  ['open quotes', `/close\n${'>>>\n'.repeat(250_000)}`],
  ['nested quotes', `/close\n${'>'.repeat(1_000_000)}`],
  ['lists', `/close\n${'- a\n'.repeat(250_000)}`],
  ['nested lists', `/close\n${Array.from({ length: 1400 }, (_, i) => `${' '.repeat(i)}- a`).join('\n')}`],
  ['one list within another', `/close\n${'- '.repeat(500_000)}`],
  ['back-ticks', `/close\n${Array.from({ length: 1400 }, (_, i) => '`'.repeat(i)).join(' ')}`],
  ['brackets', `/close\n${'['.repeat(1_000_000)}`],
])('parses a million characters of %s within the CPU limit', (_, text) => {
  const started = process.cpuUsage();
  parseQuickActionCommands(text, (name) => KNOWN.has(name));
  const { user } = process.cpuUsage(started);
  if (process.env.SHOW) console.log(_, user / 1000);
  // Units: microseconds of CPU. Generous, because the machine is shared: a quadratic parser takes minutes.
  expect(user).toBeLessThan(5_000_000);
});
