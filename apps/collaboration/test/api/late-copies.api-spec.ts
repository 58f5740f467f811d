import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DecideAnswer, DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { RefProtections } from '../../src/code/protected-refs/ref-protections';
import { startCollaboration } from '../support/app';
import { commitFiles, repositoryOf } from '../support/files-repository';

/**
 * Requests that need a newer directory version than the service's copy has, while identity answers at once.
 * Identity decides only about the requested place; other parts of the answer are checked by the copy. Source: ADR 0042.
 */

let service: SeededService;
let identity: Server;
let answer: DecideAnswer;
let owner: SeededUser;
let reader: SeededUser;
let project: DirectoryProject;
let issue: string;

beforeAll(async () => {
  identity = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  );
  await new Promise<void>((resolve) => identity.listen(0, '127.0.0.1', resolve));
  service = await startCollaboration({ IDENTITY_URL: `http://127.0.0.1:${(identity.address() as AddressInfo).port}` });
});
afterAll(async () => {
  identity.closeAllConnections();
  await new Promise((resolve) => identity.close(resolve));
  await service.close();
});

beforeEach(async () => {
  const { seed } = service;
  owner = await seed.user();
  reader = await seed.user();
  const group = await seed.group();
  project = await seed.project({ namespace_id: group.id, visibility: 'private' });
  await seed.member(owner, project, 'owner');
  const { body } = await as(owner).post(`/api/v4/projects/${project.id}/issues`).send({ title: 'Here' }).expect(201);
  issue = `/api/v4/projects/${project.id}/issues/${(body as { iid: number }).iid}`;
});

const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));

/** Sends a request that needs the next directory version, which the copy receives once the request waits for it. */
async function askAfterUnreadChange<T>(
  user: SeededUser,
  level: number,
  ask: (by: ReturnType<typeof as>) => Promise<T>,
  change: () => Promise<unknown>,
): Promise<T> {
  const viewer = service.seed.viewer(user);
  const version = viewer.directory.version + 1;
  const { epoch } = viewer.directory;
  const [namespace] = await service.database.query<NonNullable<DecideAnswer['namespace']>>(
    'select * from directory_namespaces where id = $1',
    [project.namespace_id],
  );
  answer = { version, epoch, project, namespace: namespace!, access_level: level };
  const asked = ask(service.app.as({ ...viewer, directory: { version, epoch } }));
  // A request that does not wait for the copy asks identity after 150 ms, and answers.
  await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 700))]);
  await change();
  return asked;
}

it('a new member can add a to-do', async () => {
  const { status } = await askAfterUnreadChange(
    reader,
    30,
    (by) => by.post(`${issue}/todo`).then((response) => response),
    () => service.seed.member(reader, project, 'developer'),
  );
  expect(status).toBe(201);
});

it('a note does not reveal an issue that has just become hidden', async () => {
  await service.seed.member(reader, project, 'guest');
  const group = await service.seed.group();
  const source = await service.seed.project({ namespace_id: group.id });
  await service.seed.member(owner, source, 'owner');
  const { body } = await as(owner).post(`/api/v4/projects/${source.id}/issues`).send({ title: 'There' }).expect(201);
  const { id } = body as { id: number };
  await service.database.query(
    `insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, referenced_type, referenced_id)
     select 'Issue', i.id, i.project_id, $2, 'mentioned in ${group.full_path}/${source.path}#1', true, 'Issue', $3
     from issues i where i.project_id = $1`,
    [project.id, owner.id, id],
  );
  const read = (by: ReturnType<typeof as>) =>
    by.get(`${issue}/notes`).then(({ body: notes }) => (notes as { body: string }[]).map((note) => note.body));
  expect(await read(as(reader))).toEqual([`mentioned in ${group.full_path}/${source.path}#1`]);
  const hidden = () => service.seed.put('projects', { ...source, visibility: 'private' });
  expect(await askAfterUnreadChange(reader, 10, read, hidden)).toEqual(['mentioned in something that you may not see']);
});

it('a user who has just become external cannot read an internal snippet', async () => {
  const { seed } = service;
  const open = await seed.project({ namespace_id: project.namespace_id, visibility: 'public' });
  await seed.member(owner, open, 'owner');
  await as(owner)
    .post(`/api/v4/projects/${open.id}/snippets`)
    .send({ title: 'Internal', visibility: 'internal', file_name: 'a.txt', content: 'a' })
    .expect(201);
  project = open;
  const read = (by: ReturnType<typeof as>) =>
    by
      .get(`/api/v4/projects/${open.id}/snippets`)
      .then(({ body }) => (body as { title: string }[]).map(({ title }) => title));
  expect(await read(as(reader))).toEqual(['Internal']);
  const external = () => seed.put('users', { ...reader, external: true });
  expect(await askAfterUnreadChange(reader, 0, read, external)).toEqual([]);
});

it('a user who has just lost their role in a target may not push to the branch that it shares', async () => {
  const { seed, database } = service;
  const target = await seed.project({ namespace_id: project.namespace_id, visibility: 'public' });
  const role = await seed.member(reader, target, 'developer');
  const fork = { project_id: target.id, network_id: target.id, branch: null };
  project = await seed.project({ namespace_id: project.namespace_id, visibility: 'public', fork });
  await seed.member(owner, project, 'owner');
  commitFiles(await repositoryOf(service, project), { a: 'a' }, { branch: 'topic' });
  await database.query(
    `insert into merge_requests (project_id, iid, author_id, title, source_project_id, source_branch, target_branch,
       allow_collaboration)
     values ($1, 1, $2, 'Shared', $3, 'topic', 'main', true)`,
    [target.id, owner.id, project.id],
  );
  const mayPush = (by: ReturnType<typeof as>) =>
    by
      .get(`/api/v4/projects/${project.id}/repository/branches/topic`)
      .then(({ body }) => (body as { can_push: boolean }).can_push);
  expect(await mayPush(as(reader))).toBe(true);
  const removed = () => seed.remove('memberships', role.id);
  expect(await askAfterUnreadChange(reader, 0, mayPush, removed)).toBe(false);
});

it('a group that has just forbidden first pushes of developers decides about them', async () => {
  const { seed } = service;
  const developers = { push_levels: [30], merge_levels: [30], allow_force_push: true };
  const group = await seed.group({ default_branch_protection: { ...developers, developer_can_initial_push: true } });
  const empty = await seed.project({ namespace_id: group.id, default_branch: null });
  const viewer = seed.viewer(reader);
  const next = { ...viewer.directory, version: viewer.directory.version + 1 };
  const mayPush = () =>
    service.app.get(RefProtections).canDevelopersPushFirst(empty.id, { ...viewer, directory: next });
  const forbidden = () => seed.put('namespaces', { ...group, default_branch_protection: null });
  expect(await askAfterUnreadChange(reader, 30, mayPush, forbidden)).toBe(false);
});
