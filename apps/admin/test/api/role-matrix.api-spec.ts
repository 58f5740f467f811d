import { join } from 'node:path';
import { MATRIX_MEMBERS, MATRIX_VISIBILITIES, registerRoleMatrixTests } from '@rookery/testing';
import type { MatrixRole, MatrixVisibility, SeededService } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startAdmin } from '../support/app';

let service: SeededService;
const clients = {} as Record<MatrixRole, Agent>;
const places = {} as Record<MatrixVisibility, Readonly<Record<string, string>>>;

beforeAll(async () => {
  service = await startAdmin();
  const { app, seed } = service;
  const projects = [];
  for (const visibility of MATRIX_VISIBILITIES) {
    const group = await seed.group({ visibility, path: visibility });
    projects.push(await seed.project({ visibility, namespace_id: group.id, path: 'eggs' }));
    places[visibility] = { project: `${projects.at(-1)!.id}`, visibility };
  }
  for (const role of MATRIX_MEMBERS) {
    const person = await seed.user();
    for (const project of projects) await seed.member(person, project, role);
    clients[role] = app.as(seed.viewer(person));
  }
  clients.anonymous = app.as(seed.anonymous());
  clients.outsider = app.as(seed.viewer(await seed.user()));
  clients.administrator = app.as(seed.viewer(await seed.user({ admin: true })));
});
afterAll(() => service.close());

registerRoleMatrixTests({
  file: join(__dirname, '../matrix/role-matrix.tsv'),
  clients: () => clients,
  places: () => places,
});
