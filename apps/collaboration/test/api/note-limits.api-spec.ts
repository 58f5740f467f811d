import { startCollaboration } from '../support/collaboration';
import type { Collaboration } from '../support/collaboration';

let service: Collaboration;
let path: string;

const limit = {
  NOTES_CREATES_PER_MINUTE_COUNT: '3',
  NOTES_PER_NOTEABLE_COUNT: '10',
  NOTES_UNLIMITED_USERNAMES: 'robot',
};

beforeAll(async () => {
  service = await startCollaboration(limit);
  const project = await service.seed.project();
  const owner = await service.seed.user();
  const issue = await service.app
    .as(service.seed.viewer(owner))
    .post(`projects/${project.id}/issues`)
    .body({ title: 'x' })
    .json<{ iid: number }>();
  path = `projects/${project.id}/issues/${issue.iid}/notes`;
});
afterAll(() => service.close());

async function somebody(username?: string) {
  const user = await service.seed.user(username ? { username } : {});
  const client = service.app.as(service.seed.viewer(user));
  return { user, write: (at = path) => client.post(at).send({ body: 'x' }) };
}
const statusesOf = async (writes: Promise<{ status: number }>[]) =>
  (await Promise.all(writes)).map((answer) => answer.status).sort();

test('the fourth note of a minute is refused, also when all come at once', async () => {
  const { user, write } = await somebody();
  expect(await statusesOf(Array.from({ length: 6 }, () => write()))).toEqual([201, 201, 201, 429, 429, 429]);
  const refused = await write();
  expect(refused.body).toEqual({
    message: { error: 'This endpoint has been requested too many times. Try again later.' },
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await service.database.query(
    `update note_creations set window_started_at = now() - interval '61 seconds' where user_id = $1`,
    [user.id],
  );
  expect((await write()).status).toBe(201);
});

test('what is refused for another reason does not count', async () => {
  const { write } = await somebody();
  for (let i = 0; i < 5; i++) expect((await write(path.replace(/\d+\/notes$/, '999/notes'))).status).toBe(404);
  expect((await write()).status).toBe(201);
});

test('people of the list write as many as they like, up to what an issue takes', async () => {
  const { write } = await somebody('robot');
  let last = await write();
  let written = 1;
  while (last.status === 201 && written < 20) {
    last = await write();
    written++;
  }
  expect([last.status, last.body]).toEqual([
    400,
    { message: '400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}' },
  ]);
  const [issue] = await service.database.query<{ public_notes_count: number }>(`select public_notes_count from issues`);
  expect(issue).toEqual({ public_notes_count: 10 });
});
