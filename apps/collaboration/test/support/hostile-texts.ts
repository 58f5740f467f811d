import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import agent from 'supertest';
import type { Response, Test } from 'supertest';

/** Texts of a million characters, chosen to be expensive to process. Source: reference reliability 7.3. */
export const LENGTH = 1_000_000;
const filled = (part: string): string => part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH);
export const TEXTS: Readonly<Record<string, string>> = {
  words: filled('An ordinary remark, with a few words. '),
  'one word': filled('a'),
  blanks: `a${filled(' ').slice(2)}b`,
  'line feeds': `a${filled('\n').slice(2)}b`,
  'carriage returns': `a${filled('\r').slice(2)}b`,
  people: filled('@a '),
  'people on people': filled('@a'),
  'many people': filled(Array.from({ length: 20_000 }, (_, n) => `@p${n}`).join(' ')),
  references: filled('#1 '),
  'many references': filled(Array.from({ length: 20_000 }, (_, n) => `#${n + 1}`).join(' ')),
  'a path': `${filled('a/').slice(2)}#1`,
  addresses: filled('http://a.example/b/-/issues/1 '),
  boxes: filled('- [ ] x\n'),
  'ticked boxes': filled('- [x] x\n'),
  'boxes without text': filled('- [ ]\n'),
  'open brackets': filled('['),
  'closed brackets': filled(']('),
  images: filled('![]('),
  stars: filled('*'),
  underscores: filled('_a'),
  ticks: filled('`'),
  'ticks of growing length': filled(Array.from({ length: 1400 }, (_, n) => '`'.repeat(n + 1)).join(' ')),
  fences: filled('```\n'),
  'fences that are not closed': filled('~~~\na\n'),
  quotes: filled('>'),
  'quotes in lines': filled('> '),
  'quotes of lines': filled('>>>\n'),
  'lists in lists': filled('- '),
  'numbers of lists': filled('1. '),
  'indented lists': Array.from({ length: 1400 }, (_, n) => `${' '.repeat(n)}- a\n`)
    .join('')
    .slice(0, LENGTH),
  tags: filled('<a '),
  comments: filled('<!--'),
  entities: filled('&amp;'),
  backslashes: filled('\\'),
  tables: filled('|'),
  'lines of dashes': filled('a\n-\n'),
  commands: filled('/close\n'),
  'commands that are none': filled('/a\n'),
  'labels of a command': `/label ${filled('~a ')}`.slice(0, LENGTH),
  'quotes of a command': `/label ${filled('~"')}`.slice(0, LENGTH),
  'commands about labels': filled('/label ~"a b" ~c\n'),
  'commands about issues': filled('/relate #1 a/b#2\n'),
  'places of a command': filled('/move a/b\n'),
  commas: filled('a,'),
  colours: filled('`#ff0000` '),
  accents: filled('e\u0301'),
  faces: filled('\u{1F469}\u200D\u{1F467}'),
  'halves of faces': filled('\ud83d'),
  zeros: filled('\0'),
  'from right to left': filled('\u202e\u0627'),
  percents: filled('%'),
  digits: filled('9'),
  dots: filled('.'),
  slashes: filled('/'),
  'labels by name': filled('~a ~"b c" '),
  'milestones by name': filled('%a %"b c" '),
  epics: filled('&3 '),
  'references into groups': filled('a/b/c#1 a/b&2 a/b!3 '),
  'line ends of two characters': filled('a\r\n'),
  'stars in stars': filled('*a **b '),
  'complete links': filled('[a](b) '),
  'brackets in brackets': `${'['.repeat(LENGTH / 2)}${']'.repeat(LENGTH / 2)}`,
  'definitions of links': filled('[a]: b\n'),
  'rows of tables': filled('|a|b|\n|-|-|\n'),
  'tags in tags': filled('<details><summary>'),
  'addresses that are not closed': filled('<http://a'),
  'accents upon accents': `a${filled('\u0301').slice(1)}`,
  'closing references': filled('closes #1, '),
  'blanks and a line feed': filled(' \n'),
};

/** Units: ms of CPU, in addition to those of the bare exchange of such a text. Source: reference reliability 7.3. */
export const CPU_LIMIT = 200;
const TRIES = 5;

/** Returns a function that sends a body serialized in advance: serializing such a text takes a client up to 170 ms. */
export function prepared(fields: object): (request: Test) => Promise<Response> {
  const body = JSON.stringify(fields);
  return async (request) => request.type('json').send(body);
}

/** Describes the problem of the answers; null if none is a 5xx and the cheapest of some tries is within the limit. */
export async function problemOf(
  name: string,
  ask: () => Promise<Response>,
  isWrong = isServerError,
  limit = CPU_LIMIT,
): Promise<string | null> {
  let least = Infinity;
  for (let count = 0; count < TRIES && least > limit; count += 1) {
    const [response, took] = await measureCpu(ask);
    if (isWrong(response.status)) return `${name}: ${response.status}`;
    // This process is client and server in one, so the cost of the bare exchange is measured with a server that does nothing.
    least = Math.min(least, took > limit ? took - (await measureBareCpu(response)) : took);
    if (count === TRIES - 1 && least > limit) return `${name}: ${response.status} after ${Math.round(least)} ms`;
  }
  return null;
}

const isServerError = (status: number): boolean => status >= 500;

async function measureCpu(ask: () => Promise<Response>): Promise<[Response, number]> {
  const from = process.cpuUsage();
  const response = await ask();
  const { user, system } = process.cpuUsage(from);
  return [response, (user + system) / 1000];
}

/** Measures the CPU time of exchanging the same bytes with a server that ignores them. */
async function measureBareCpu({ request, text }: Response): Promise<number> {
  const server = createServer((received, answer) => {
    received.resume().on('end', () => answer.setHeader('content-type', 'application/json').end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const sent = (request as unknown as { _data?: string })._data ?? '';
    const [, took] = await measureCpu(async () => agent(`http://127.0.0.1:${port}`).post('/').type('json').send(sent));
    return took;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
