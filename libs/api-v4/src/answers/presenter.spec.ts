import { aContext } from '../../test/support/context';
import { bool, choice, day, instant, int, list, mapOf, nested, nullable, object, presenter, text } from '../index';

interface Author {
  readonly id: number;
}
interface Note {
  readonly id: number;
  readonly body: string;
  readonly authorId: number | null;
}
const ctx = aContext();
const notes: Note[] = [
  { id: 1, body: 'a "quoted" \u2028 text\n', authorId: 7 },
  { id: 2, body: '\ud800', authorId: null },
];

it('renders fields in their order, and values that JSON cannot express as valid JSON', async () => {
  const shape = presenter<Note>('Note').fields({ id: [int, (note) => note.id], body: [text, (note) => note.body] });
  const written = await shape.renderList(notes, ctx);
  expect(written).toBe(JSON.stringify(notes.map(({ id, body }) => ({ id, body }))));
  expect(await shape.renderList([], ctx)).toBe('[]');
  expect(await shape.renderRow(notes[0]!, ctx)).toBe(JSON.stringify({ id: 1, body: notes[0]!.body }));
});

it('loads once for all rows, also in nested presenters', async () => {
  const loads: number[][] = [];
  const author = presenter<Author>('Author')
    .load((authors) => {
      loads.push(authors.map((one) => one.id));
      return Promise.resolve(new Map(authors.map((one) => [one.id, `name ${one.id}`])));
    })
    .fields({ id: [int, (one) => one.id], name: [text, (one, names) => names.get(one.id)!] });
  const shape = presenter<Note>('Note').fields({
    author: [nullable(nested(author)), (note) => (note.authorId === null ? null : { id: note.authorId })],
    readers: [list(nested(author)), (note) => [{ id: note.id }, { id: note.id + 1 }]],
  });
  expect(JSON.parse(await shape.renderList(notes, ctx))).toEqual([
    {
      author: { id: 7, name: 'name 7' },
      readers: [
        { id: 1, name: 'name 1' },
        { id: 2, name: 'name 2' },
      ],
    },
    {
      author: null,
      readers: [
        { id: 2, name: 'name 2' },
        { id: 3, name: 'name 3' },
      ],
    },
  ]);
  expect(loads).toEqual([[7], [1, 2, 2, 3]]);
});

it('omits conditional fields, and extends a presenter', async () => {
  const short = presenter<Note>('Note')
    .load(() => ({ mark: '!' }))
    .fields({
      id: [int, (note) => note.id],
      body: [text, (note, { mark }) => note.body + mark, { when: (note) => note.id === 1 }],
    });
  const long = short
    .extend<Note>('NoteDetail')
    .fields({ more: [bool, () => true], id: [text, (note) => `#${note.id}`] });
  expect(JSON.parse(await short.renderList([{ id: 2, body: '', authorId: 1 }], ctx))).toEqual([{ id: 2 }]);
  expect(await long.renderRow({ id: 1, body: 'x', authorId: 1 }, ctx)).toBe('{"id":"#1","body":"x!","more":true}');
  expect(long.schema['required']).toEqual(['id', 'more']);
});

it('renders times in UTC with milliseconds, and days without a time', async () => {
  const shape = presenter<Date>('Times').fields({
    date: [instant, (at) => at],
    sql: [instant, () => '2020-01-15T12:36:29.590Z'],
    other: [instant, () => '2020-01-15T12:36:29+01:00'],
    day: [day, (at) => at],
    text: [day, () => '2020-01-15'],
    none: [nullable(instant), () => null],
  });
  expect(JSON.parse(await shape.renderRow(new Date(0), ctx))).toEqual({
    date: '1970-01-01T00:00:00.000Z',
    sql: '2020-01-15T12:36:29.590Z',
    other: '2020-01-15T11:36:29.000Z',
    day: '1970-01-01',
    text: '2020-01-15',
    none: null,
  });
});

it('provides the schema of its output', () => {
  const shape = presenter<Note>('Note').fields({
    id: [int, (note) => note.id, { about: 'Global.' }],
    state: [choice('opened', 'closed'), () => 'opened' as const, { deprecated: 'status' }],
    author: [nullable(int), (note) => note.authorId],
    stats: [object({ up: int }), () => ({ up: 1 })],
    maps: [mapOf(text), () => ({ a: 'b' })],
  });
  expect(shape.schema).toEqual({
    type: 'object',
    properties: {
      id: { type: 'integer', description: 'Global.' },
      state: { type: 'string', enum: ['opened', 'closed'], description: 'Deprecated: use status.', deprecated: true },
      author: { description: 'User who created it.', type: ['integer', 'null'] },
      stats: { type: 'object', properties: { up: { type: 'integer' } }, required: ['up'] },
      maps: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['id', 'state', 'author', 'stats', 'maps'],
  });
});
