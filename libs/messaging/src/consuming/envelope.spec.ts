import { NOTEABLE_TYPE_OF, noteDeleted } from '@rookery/contracts';
import { decodeEvent, envelopeText } from './envelope';

const data = {
  note_id: 3,
  noteable_type: NOTEABLE_TYPE_OF.issue,
  noteable_id: 1,
  noteable_iid: 1,
  project_id: 1,
  group_id: null,
  author_id: 7,
  internal: false,
};
const text = envelopeText(
  {
    id: 1,
    event_id: '0197a5c0-0000-7000-8000-000000000001',
    aggregate_type: 'note',
    aggregate_id: 3,
    subject: noteDeleted.subject,
    type: noteDeleted.type,
    occurred_at: new Date('2026-11-21T09:30:00.000Z'),
    actor_id: null,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    payload: JSON.stringify(data),
    directory_version: 41,
    directory_epoch: 'e1',
    generation: 0,
  },
  '/rookery/collaboration',
);
const changedEnvelope = (over: object): string => JSON.stringify({ ...(JSON.parse(text) as object), ...over });

describe('envelopes', () => {
  it('preserve an outbox row when encoded and decoded', () => {
    expect(decodeEvent(text, noteDeleted)).toEqual({
      outcome: 'event',
      event: {
        id: '0197a5c0-0000-7000-8000-000000000001',
        time: '2026-11-21T09:30:00.000Z',
        aggregateType: 'note',
        aggregateId: 3,
        actorId: null,
        seen: { version: 41, epoch: 'e1' },
        data,
      },
    });
    expect(JSON.parse(text)).toMatchObject({ specversion: '1.0', traceparent: expect.stringMatching(/^00-0af7/) });
  });

  it('are read without a directory version, as older producers send them', () => {
    const old = decodeEvent(changedEnvelope({ directoryversion: undefined, directoryepoch: undefined }), noteDeleted);
    expect(old).toMatchObject({ outcome: 'event', event: expect.not.objectContaining({ seen: expect.anything() }) });
  });

  it('are read when a newer producer added fields', () => {
    expect(decodeEvent(changedEnvelope({ data: { ...data, mood: 'glad' }, extra: 1 }), noteDeleted).outcome).toBe(
      'event',
    );
  });

  it.each([
    ['no JSON', '{', 'the body is not a JSON object'],
    ['a list', '[]', 'the body is not a JSON object'],
    ['no type', changedEnvelope({ type: undefined }), 'type is missing'],
    ['no id', changedEnvelope({ id: '1' }), 'id is not a UUID'],
    ['a bad time', changedEnvelope({ time: 'noon' }), 'time is no instant'],
    ['another specversion', changedEnvelope({ specversion: '0.3' }), 'specversion is not 1.0'],
    ['a bad version', changedEnvelope({ directoryversion: '7' }), 'directoryversion is not an integer'],
    ['no data', changedEnvelope({ data: null }), '$ is not an object'],
    [
      'data against the contract',
      changedEnvelope({ data: { ...data, author_id: '7' } }),
      '$.author_id is not an integer',
    ],
  ])('with %s are unreadable', (_, body, problem) => {
    expect(decodeEvent(body, noteDeleted)).toEqual({ outcome: 'unreadable', reason: 'undecodable', problem });
  });

  it('distinguish another major version from another event', () => {
    const type = (name: string) => decodeEvent(changedEnvelope({ type: name }), noteDeleted);
    expect(type('rookery.collaboration.note.deleted.v2')).toMatchObject({ reason: 'unknown_version' });
    expect(type('rookery.collaboration.note.created.v1')).toMatchObject({ outcome: 'foreign' });
    expect(type('nonsense')).toMatchObject({ outcome: 'foreign' });
  });
});
