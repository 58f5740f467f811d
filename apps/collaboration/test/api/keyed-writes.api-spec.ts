import { randomUUID } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { registerIdempotentWriteTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let issues: string;
let notes: string;
beforeAll(async () => {
  // The last test needs this limit.
  service = await startCollaboration({ NOTES_CREATES_PER_MINUTE_COUNT: '60' });
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  issues = `/api/v4/projects/${project.id}/issues`;
  notes = `${issues}/${(await anIssue()).iid}/notes`;
});
afterAll(() => service.close());

interface Issue {
  readonly id: number;
  readonly iid: number;
}
let counter = 0;
const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anIssue = async (): Promise<Issue> =>
  (await as('owner').post(issues).send({ title: 'An issue' }).expect(201)).body as Issue;
const count = async (table: string): Promise<number> => {
  const [row] = await service.database.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return row!.count;
};

registerIdempotentWriteTests('POST …/issues', {
  caller: () => as('developer'),
  stranger: () => as('maintainer'),
  database: () => service.database,
  table: 'issues',
  write: () => ({ method: 'POST', path: issues, body: { title: `Issue ${(counter += 1)}` } }),
  count: () => count('issues'),
  refused: { title: 'x'.repeat(300) },
});

registerIdempotentWriteTests('POST …/issues/:issue_iid/notes', {
  caller: () => as('reporter'),
  stranger: () => as('planner'),
  database: () => service.database,
  table: 'notes',
  write: () => ({ method: 'POST', path: notes, body: { body: `Note ${(counter += 1)}` } }),
  count: () => count('notes'),
  refused: { body: ' ' },
});

describe('an idempotent write', () => {
  it('publishes its event once when repeated', async () => {
    const key = randomUUID();
    const before = (await eventsOf(service.database, 'collaboration.issue.created.v1')).length;
    const write = () => as('guest').post(issues).set('Idempotency-Key', key).send({ title: 'Told once' }).expect(201);
    const first = await write();
    const second = await write();
    expect(second.body).toEqual(first.body);
    const events = await eventsOf(service.database, 'collaboration.issue.created.v1');
    expect(events.slice(before)).toEqual([expect.objectContaining({ issue_id: (first.body as Issue).id })]);
  });

  it('that deletes gets the first answer again instead of 404', async () => {
    const path = `${issues}/${(await anIssue()).iid}`;
    const remove = () => as('owner').delete(path).set('Idempotency-Key', 'gone');
    await remove().expect(204);
    const second = await remove().expect(204);
    expect([second.text, second.headers['idempotency-replayed']]).toEqual(['', 'true']);
    await as('owner').delete(path).expect(404);
  });

  it('is the same with another multipart boundary, and not with other parts', async () => {
    const write = (title: string, boundary: string) =>
      as('developer')
        .post(issues)
        .set('Idempotency-Key', 'parts')
        .set('Content-Type', `multipart/form-data; boundary=${boundary}`)
        .send(`--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\n${title}\r\n--${boundary}--\r\n`);
    const first = await write('In parts', 'aaaa').expect(201);
    const second = await write('In parts', 'bbbb').expect(201);
    expect(second.body).toEqual(first.body);
    await write('In other parts', 'aaaa').expect(422);
  });

  it('repeats the answer for a caller who has lost the permission, and writes nothing', async () => {
    const person = await service.seed.user();
    const hidden = await service.seed.project({ visibility: 'private' });
    await service.seed.member(person, hidden, 'reporter');
    const path = `/api/v4/projects/${hidden.id}/issues`;
    const write = () => service.app.as(service.seed.viewer(person)).post(path).send({ title: 'Mine' });
    const first = await write().set('Idempotency-Key', 'left').expect(201);
    await service.seed.remove('projects', hidden.id);
    expect((await write().set('Idempotency-Key', 'left').expect(201)).body).toEqual(first.body);
    await write().set('Idempotency-Key', 'anew').expect(404);
  });

  it('counts no note when it is repeated, and does not store refusals of the note limit', async () => {
    const send = (key: string) => as('external').post(notes).set('Idempotency-Key', key).send({ body: key });
    for (let note = 0; note < 60; note += 1) await send(`note ${note}`).expect(201);
    await send('one more').expect(429);
    await send('note 1').expect(201);
    expect(await service.database.query(`select 1 from idempotency_keys where key = 'one more'`)).toEqual([]);
  });
});
