import { join } from 'node:path';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { MATRIX_MEMBERS, MATRIX_VISIBILITIES, registerRoleMatrixTests } from '@rookery/testing';
import type { MatrixRole, MatrixVisibility } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

let identity: IdentityApp;
const clients = {} as Record<MatrixRole, Agent>;
const places = {} as Record<MatrixVisibility, Readonly<Record<string, string>>>;

beforeAll(async () => {
  identity = await startIdentity();
  const maker = await identity.person('maker');
  const people = new Map<MatrixRole, number>();
  clients.anonymous = identity.anonymous;
  clients.administrator = identity.root;
  for (const role of ['outsider', ...MATRIX_MEMBERS] as const) {
    const { id, client } = await identity.person(`the-${role}`);
    clients[role] = client;
    people.set(role, id);
  }
  const make = async (kind: 'groups' | 'projects', name: string, over: object) =>
    (
      await maker.client
        .post(`/api/v4/${kind}`)
        .send({ name, path: name, ...over })
        .expect(201)
    ).body.id;
  const other = await make('groups', 'other', { visibility: 'public' });
  const person = (await identity.person('somebody')).id;
  for (const visibility of MATRIX_VISIBILITIES) {
    const group = await make('groups', `group-${visibility}`, { visibility });
    const home = await make('groups', `home-${visibility}`, { visibility });
    const project = await make('projects', `project-${visibility}`, { visibility, namespace_id: home });
    for (const role of MATRIX_MEMBERS) {
      const member = { user_id: people.get(role), access_level: ACCESS_LEVELS[role] };
      await maker.client.post(`/api/v4/groups/${group}/members`).send(member).expect(201);
      await maker.client.post(`/api/v4/projects/${project}/members`).send(member).expect(201);
    }
    const ids = { group, home, project, other, person };
    places[visibility] = { ...Object.fromEntries(Object.entries(ids).map(([k, id]) => [k, `${id}`])), visibility };
  }
});
afterAll(() => identity.close());

registerRoleMatrixTests({
  file: join(__dirname, '../matrix/role-matrix.tsv'),
  clients: () => clients,
  places: () => places,
});
