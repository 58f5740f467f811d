import { addMember, call, eventually, person, projectOf } from '../support/estate';
import type { Answer, Person } from '../support/estate';

/** Concurrent calls have the same results as sequential ones. Source: reference reliability 5. */
let owner: Person;
let reader: Person;
let project: number;

beforeAll(async () => {
  owner = await person('many');
  reader = await person('reader');
  project = (await projectOf(owner, 'crowd')).id;
  await addMember(project, reader, 20, owner);
});

const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));
const post = (path: string, json: unknown): Promise<Answer> => call('POST', path, { token: owner.token, json });

it('50 issues at once have the iids 1 to 50', async () => {
  const made = await times(50, (index) => post(`/projects/${project}/issues`, { title: `issue ${index}` }));
  expect(made.map(({ status }) => status)).toEqual(Array(50).fill(201));
  const iids = made.map(({ body }) => body.iid as number).sort((a, b) => a - b);
  expect(iids).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
});

it('50 notes at once are all stored and counted, each with a to-do for the mentioned user', async () => {
  const path = `/projects/${project}/issues/1/notes`;
  const made = await times(50, (index) => post(path, { body: `note ${index} for @${reader.username}` }));
  expect(made.map(({ status }) => status)).toEqual(Array(50).fill(201));
  const list = await call('GET', `${path}?per_page=100`, { token: reader.token });
  expect([list.body.length, list.headers.get('x-total')]).toEqual([50, '50']);
  expect(new Set(list.body.map(({ body }: { body: string }) => body)).size).toBe(50);
  const issue = await call('GET', `/projects/${project}/issues/1`, { token: reader.token });
  expect(issue.body.user_notes_count).toBe(50);
  const total = () => call('GET', `/todos?project_id=${project}&per_page=1`, { token: reader.token });
  await eventually(total, ({ headers }) => headers.get('x-total') === '50');
});

it('20 people who claim one path at once get one group', async () => {
  const path = `claimed-${project}`;
  const made = await times(20, () => post('/groups', { name: path, path }));
  expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(400)]);
  const text = 'Failed to save group {:path=>["has already been taken"]}';
  expect(made.filter(({ status }) => status === 400).map(({ body }) => body.message)).toEqual(
    Array(19).fill(expect.stringContaining(text.slice(0, 21))),
  );
});

// Forty rounds are in identity's token-rotation.db-spec, and by the product's own limits in `npm run drill rotations`; these
// show that the gateway drops its leases of the token and serves other callers meanwhile.
it('of 50 rotations of one token at once one succeeds, no two tokens work, and other callers are served', async () => {
  const refusal = { message: '400 Bad request - Token already revoked' };
  for (let round = 0; round < 8; round += 1) {
    const made = await call('POST', `/users/${owner.id}/personal_access_tokens`, {
      json: { name: 'spun', scopes: ['api'] },
    });
    const rotations = await whileOthersWork(() =>
      times(50, () => call('POST', `/personal_access_tokens/${made.body.id}/rotate`, { token: owner.token })),
    );
    const winners = rotations.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    const others = rotations.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body]);
    expect(others).toEqual(Array(49).fill([400, refusal]));
    expect((await call('GET', '/user', { token: winners[0]!.body.token })).status).toBe(401);
    expect((await call('GET', '/user', { token: made.body.token })).status).toBe(401);
  }
});

/** Runs `use` while another user keeps reading, who must never be refused. */
async function whileOthersWork<T>(use: () => Promise<T>): Promise<T> {
  let isOver = false;
  const work = async (): Promise<void> => {
    for (const path of endless(['/user', `/projects/${project}`, `/projects/${project}/issues?per_page=1`])) {
      if (isOver) return;
      expect((await call('GET', path, { token: reader.token })).status).toBe(200);
    }
  };
  const working = work();
  try {
    return await use();
  } finally {
    isOver = true;
    await working;
  }
}

function* endless<T>(items: readonly T[]): Generator<T> {
  for (;;) yield* items;
}
