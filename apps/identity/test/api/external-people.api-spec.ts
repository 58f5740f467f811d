import type { Test } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';

let identity: IdentityApp;
const make = maker(() => identity);
const { unique } = make;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

const NO_ROOM = 'Personal project creation is not allowed. Please contact your administrator with questions';
const REFUSED = { message: { limit_reached: [NO_ROOM] } };
const setExternal = (id: number, external: boolean) =>
  identity.root.put(`/api/v4/users/${id}`).send({ external }).expect(200);

/** Callers, and whether they may have projects of their own. */
const PEOPLE: readonly (readonly [string, boolean, () => Promise<Person>])[] = [
  ['a user', true, () => make.person()],
  ['an external person', false, () => make.person({ external: true })],
  [
    'a user who becomes external',
    false,
    async () => {
      const person = await make.person();
      await setExternal(person.id, true);
      return { ...person, client: asPerson(person, { isExternal: true }) };
    },
  ],
  [
    'a user who is not external any more',
    true,
    async () => {
      const person = await make.person({ external: true });
      await setExternal(person.id, false);
      return { ...person, client: asPerson(person, {}) };
    },
  ],
  ['an external administrator', true, () => make.person({ external: true, admin: true })],
];
const asPerson = ({ id, username }: Person, over: object) => identity.as({ userId: id, username, ...over });

interface PersonWithProjects {
  readonly person: Person;
  /** A group that they own. */
  readonly group: MadeGroup;
  /** A public project of another user, and one of the caller's in the group. */
  readonly other: number;
  readonly inside: number;
}
const createProject = async (by: Person, namespace_id: number): Promise<number> => {
  const wanted = { name: unique('thing'), namespace_id, visibility: 'public' };
  return (await by.client.post('/api/v4/projects').send(wanted).expect(201)).body.id as number;
};

/**
 * Ways to put a project into the user's own namespace, with the status of success, the status of the refusal and its
 * body.
 */
const WAYS: Readonly<Record<string, readonly [(scene: PersonWithProjects) => Test, number, number, object]>> = {
  'by creation': [
    ({ person }) => person.client.post('/api/v4/projects').send({ name: unique('own') }),
    201,
    400,
    REFUSED,
  ],
  'by creation in the named namespace': [
    ({ person }) =>
      person.client.post('/api/v4/projects').send({ path: unique('own'), namespace_id: person.namespaceId }),
    201,
    400,
    REFUSED,
  ],
  'by creation by an administrator': [
    ({ person }) => identity.root.post(`/api/v4/projects/user/${person.id}`).send({ name: unique('own') }),
    201,
    400,
    REFUSED,
  ],
  'by a fork': [
    ({ person, other }) => person.client.post(`/api/v4/projects/${other}/fork`).send({}),
    201,
    409,
    REFUSED,
  ],
  'by a fork into the named namespace': [
    ({ person, other }) =>
      person.client.post(`/api/v4/projects/${other}/fork`).send({ namespace_path: person.username }),
    201,
    409,
    REFUSED,
  ],
  'by a move': [
    ({ person, inside }) =>
      person.client.put(`/api/v4/projects/${inside}/transfer`).send({ namespace: person.namespaceId }),
    200,
    400,
    { message: `Failed to transfer project: ${NO_ROOM}` },
  ],
  'by a move by an administrator': [
    ({ person, inside }) =>
      identity.root.put(`/api/v4/projects/${inside}/transfer`).send({ namespace: person.username }),
    200,
    400,
    { message: `Failed to transfer project: ${NO_ROOM}` },
  ],
};

describe.each(PEOPLE)('%s', (_, mayHaveOwn, comes) => {
  let scene: PersonWithProjects;
  beforeAll(async () => {
    const owner = await make.person();
    const group = await make.group(owner, { visibility: 'public' });
    const person = await comes();
    await make.join(`/api/v4/groups/${group.id}`, person, 50);
    scene = {
      person,
      group,
      other: await createProject(owner, (await make.group(owner, { visibility: 'public' })).id),
      inside: 0,
    };
  });
  beforeEach(async () => {
    scene = { ...scene, inside: await createProject(scene.person, scene.group.id) };
  });

  it.each(Object.keys(WAYS))(`${mayHaveOwn ? 'has' : 'has not'} projects of their own, %s`, async (way) => {
    const [call, done, refused, why] = WAYS[way]!;
    const { status, body } = await call(scene);
    expect([status, mayHaveOwn ? null : body]).toEqual(mayHaveOwn ? [done, null] : [refused, why]);
    const own = await identity.db.query(`select 1 from projects where namespace_id = $1`, [scene.person.namespaceId]);
    expect(own.length > 0).toBe(mayHaveOwn);
    await identity.db.query(`delete from projects where namespace_id = $1`, [scene.person.namespaceId]);
  });

  it('may have projects in groups that allow it', async () => {
    const { person, group, other } = scene;
    const fork = await person.client.post(`/api/v4/projects/${other}/fork`).send({ namespace_id: group.id });
    expect(fork.status).toBe(201);
    const { body } = await person.client.get('/api/v4/user').expect(200);
    expect([body.can_create_project, body.projects_limit]).toEqual([mayHaveOwn, 100_000]);
  });
});

it('keeps projects from before becoming external', async () => {
  const person = await make.person();
  const id = await createProject(person, person.namespaceId);
  await setExternal(person.id, true);
  const client = asPerson(person, { isExternal: true });
  await client.put(`/api/v4/projects/${id}`).send({ description: 'still mine' }).expect(200);
  expect((await client.post('/api/v4/projects').send({ name: unique('own') })).body).toEqual(REFUSED);
});
