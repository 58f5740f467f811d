import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS, problemsOf } from '../../src';

const folder = join(__dirname, '../../samples');
/** Samples of all events. Each noun has a file that maps verb and version to an envelope. */
const samples = readdirSync(folder).flatMap((file) => {
  const envelopes = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, Envelope>;
  return Object.entries(envelopes).map(([verb, envelope]) => ({
    subject: `${file.replace(/\.json$/, '')}.${verb}`,
    envelope,
  }));
});
interface Envelope {
  readonly subject: string;
  readonly type: string;
  readonly data: unknown;
}

describe('event samples', () => {
  it('exist for every declared event', () => {
    expect(samples.map(({ subject }) => subject).sort()).toEqual([...EVENTS.keys()].sort());
  });

  it.each(samples)('$subject matches its declaration', ({ subject, envelope }) => {
    expect(envelope.subject).toBe(subject);
    const definition = EVENTS.get(envelope.subject);
    expect(definition?.type).toBe(envelope.type);
    expect(problemsOf(definition!.schema, envelope.data)).toEqual([]);
  });

  it.each([...EVENTS.values()])('$subject carries neither texts of users nor secrets', ({ schema }) => {
    const names = JSON.stringify(schema);
    expect(names).not.toMatch(/"(body|description|title|token|email|password|message)"/);
  });

  it('reports invalid fields, and ignores fields that a newer producer added', () => {
    const { schema } = EVENTS.get('collaboration.note.created.v1')!;
    const { data } = samples.find(({ envelope }) => envelope.subject === 'collaboration.note.created.v1')!.envelope;
    expect(problemsOf(schema, { ...(data as object), added_later: 1 })).toEqual([]);
    expect(problemsOf(schema, { ...(data as object), note_id: '77', noteable_type: 'Poem' })).toEqual([
      '$.note_id is not an integer',
      '$.noteable_type is not one of Issue, MergeRequest, Snippet, Commit, Epic',
    ]);
  });
});
