import { until } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup, MadeProject } from '../support/groups-and-projects';

let identity: IdentityApp;
let owner: Person;
let open: Person;
let both: Person;
let shy: Person;
let claims: Person;
let home: MadeGroup;
let work: MadeProject;
const { person, group, project, join, unique } = maker(() => identity);

/** Every user of the cast is a member of the project and of its group, and has starred the project. */
beforeAll(async () => {
  identity = await startIdentity();
  owner = await person();
  home = await group(owner, { visibility: 'public' });
  work = await project(owner, { namespace_id: home.id, visibility: 'public' });
  const own = unique('open');
  open = await identity.person(own, { public_email: `${own}@example.com` });
  both = await person();
  shy = await person({ private_profile: true });
  claims = await person();
  await insertAddress(both, 'both@work.example', true);
  await identity.root.put(`/api/v4/users/${both.id}`).send({ public_email: 'both@work.example' }).expect(200);
  await insertAddress(claims, 'claimed@example.com', false);
  // An unconfirmed public address cannot be set through the API.
  await identity.db.query(`update users set public_email = 'claimed@example.com' where id = $1`, [claims.id]);
  for (const one of [open, both, shy, claims]) {
    await join(`/api/v4/groups/${home.id}`, one, 20);
    await join(`/api/v4/projects/${work.id}`, one, 30);
    await one.client.post(`/api/v4/projects/${work.id}/star`).expect(201);
  }
});
afterAll(() => identity.close());

const insertAddress = (of: Person, email: string, isConfirmed: boolean) =>
  identity.db.query(`insert into emails (user_id, email, confirmed_at) values ($1, $2, $3)`, [
    of.id,
    email,
    isConfirmed ? new Date() : null,
  ]);
const primaryAddressOf = ({ username }: Person) => `${username}@example.com`;

interface ListedPerson {
  readonly id?: number;
  readonly user?: { readonly id: number };
}
/** Every list that can be searched by users. Anonymous callers are checked with one username. */
const LISTS: readonly [string, (text: string, about: Person) => [string, Record<string, string>]][] = [
  ['users', (search, { username }) => ['users', { search, username }]],
  ['users of a project', (search) => [`projects/${work.id}/users`, { search }]],
  ['starrers', (search) => [`projects/${work.id}/starrers`, { search }]],
  ['members of a group', (query) => [`groups/${home.id}/members`, { query }]],
  ['all members of a group', (query) => [`groups/${home.id}/members/all`, { query }]],
  ['members of a project', (query) => [`projects/${work.id}/members`, { query }]],
  ['all members of a project', (query) => [`projects/${work.id}/members/all`, { query }]],
];

describe.each(LISTS)('searching %s', (list, request) => {
  const isFound = async (client: Agent, text: string, about: Person): Promise<boolean> => {
    const [path, query] = request(text, about);
    const { body, headers } = await client.get(`/api/v4/${path}`).query(query).expect(200);
    const ids = (body as ListedPerson[]).map((row) => row.user?.id ?? row.id);
    expect(headers['x-total']).toBe(String(ids.length));
    return ids.includes(about.id);
  };
  const isForAnybody = !list.includes('members');

  it('finds no user by an address for anonymous callers', async () => {
    const some: [string, Person][] = [
      [primaryAddressOf(open), open],
      ['both@work.example', both],
      [primaryAddressOf(shy), shy],
    ];
    for (const [text, about] of isForAnybody ? some : []) {
      expect([text, await isFound(identity.anonymous, text, about)]).toEqual([text, false]);
    }
  });

  it('finds users by a whole public address', async () => {
    for (const client of [owner.client, shy.client]) {
      expect(await isFound(client, primaryAddressOf(open).toUpperCase(), open)).toBe(true);
      expect(await isFound(client, 'both@work.example', both)).toBe(true);
      expect(await isFound(client, 'both@work', both)).toBe(false);
      expect(await isFound(client, open.username, open)).toBe(true);
    }
  });

  it('finds no user by a hidden address', async () => {
    for (const client of [owner.client, both.client, claims.client]) {
      for (const [text, about] of [
        [primaryAddressOf(both), both],
        [primaryAddressOf(claims), claims],
        ['claimed@example.com', claims],
        ['CLAIMED@example.com', claims],
      ] as const) {
        expect([text, await isFound(client, text, about)]).toEqual([text, false]);
      }
    }
  });

  it('finds all users by their address for administrators', async () => {
    for (const one of [open, both, claims]) expect(await isFound(identity.root, primaryAddressOf(one), one)).toBe(true);
  });
});

describe('an empty search', () => {
  it('finds all users, and an unknown address none', async () => {
    const members = (query: string) => owner.client.get(`/api/v4/projects/${work.id}/members`).query({ query });
    expect((await members('')).body).toHaveLength(4);
    expect((await members('nobody@example.com')).body).toEqual([]);
  });

  it('takes time by the number of users, not by the length of the text', async () => {
    await identity.db.query(
      `insert into users (username, name, email) select 'n' || g, 'Name ' || g, 'n' || g || '@many.example'
       from generate_series(1, 10000) g`,
    );
    const took = async (search: string): Promise<number> => {
      const started = performance.now();
      const { body } = await owner.client.get('/api/v4/users').query({ search }).expect(200);
      expect(body).toEqual([]);
      return performance.now() - started;
    };
    const tooLong = await owner.client.get('/api/v4/users').query({ search: 'x'.repeat(15_000) });
    expect([tooLong.status, tooLong.body]).toEqual([400, { error: 'search is too long (maximum is 255 characters)' }]);
    // It took 130 times as long for a text of that length, so a few callers could block all others. Other load on the
    // machine can make a measurement longer, but never shorter.
    let [short, long] = [Infinity, Infinity];
    await until(async () => {
      short = Math.max(5, Math.min(short, await took('x'.repeat(10))));
      long = Math.min(long, await took('x'.repeat(255)));
      return long < short * 10 + 50;
    }, 'an answer to a long text nearly as soon as to a short one');
  });
});
