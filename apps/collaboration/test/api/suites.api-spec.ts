import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService, RoleCase } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let owner: Viewer;
let project: DirectoryProject;
let issueIid: number;
let noteId: number;

const app = () => service.app;
const issuesPath = () => `/api/v4/projects/${project.id}/issues`;
const notesPath = () => `${issuesPath()}/${issueIid}/notes`;
const made = async (path: string, body: Record<string, unknown>, viewer = owner) =>
  (await app().as(viewer).post(path).send(body)).body as { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project({ visibility: 'private' });
  const user = await service.seed.user();
  await service.seed.member(user, project, 'owner');
  owner = service.seed.viewer(user);
  for (let i = 0; i < 7; i++) issueIid = (await made(issuesPath(), { title: `Issue ${i}` })).iid;
  for (let i = 0; i < 7; i++) noteId = (await made(notesPath(), { body: `Note ${i}` })).id;
});
afterAll(() => service.close());

/** A viewer with this role case in a project of this visibility with one issue. */
const places = new Map<Visibility, Promise<{ project: DirectoryProject; iid: number }>>();
async function viewerOfIssue(level: Visibility, standing: RoleCase, suffix: (iid: number) => string) {
  if (!places.has(level)) places.set(level, place(level));
  const { project: there, iid } = await places.get(level)!;
  return { viewer: await createViewer(there, standing), path: `/api/v4/projects/${there.id}/issues${suffix(iid)}` };
}

async function place(level: Visibility) {
  const there = await service.seed.project({ visibility: level });
  const admin = service.seed.viewer(await service.seed.user({ admin: true }));
  return { project: there, iid: (await made(`/api/v4/projects/${there.id}/issues`, { title: 'x' }, admin)).iid };
}

async function createViewer(there: DirectoryProject, standing: RoleCase): Promise<Viewer> {
  if (standing === 'anonymous') return service.seed.anonymous();
  const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
  if (!['admin', 'external', 'outsider'].includes(standing)) await service.seed.member(user, there, standing as Role);
  return service.seed.viewer(user);
}

describe('the list of issues', () => {
  registerListPagingTests(() => ({
    app: app(),
    viewer: owner,
    path: issuesPath(),
    query: { state: 'opened', sort: 'asc' },
    rows: 7,
  }));
  registerVisibilityTests({ app, from: (level, standing) => viewerOfIssue(level, standing, () => '') });
});

describe('one issue', () => {
  registerVisibilityTests({ app, from: (level, standing) => viewerOfIssue(level, standing, (iid) => `/${iid}`) });
});

describe('the list of notes', () => {
  registerListPagingTests(() => ({
    app: app(),
    viewer: owner,
    path: notesPath(),
    query: { order_by: 'updated_at' },
    rows: 7,
  }));
  registerVisibilityTests({
    app,
    from: (level, standing) => viewerOfIssue(level, standing, (iid) => `/${iid}/notes`),
    anonymous: 401,
  });
});

describe('opening an issue', () => {
  registerRefusalOrderTests(app, async () => ({
    method: 'POST',
    path: issuesPath(),
    good: { title: 'x' },
    bad: {},
    anonymous: service.seed.anonymous(),
    outsider: service.seed.viewer(await service.seed.user()),
    allowed: owner,
  }));
  registerParameterEncodingTests({
    app,
    to: () => ({
      viewer: owner,
      method: 'POST',
      path: issuesPath(),
      params: { title: 'One & 100% "two"', confidential: true, assignee_ids: [owner.userId], due_date: '2026-12-24' },
    }),
    seen: ({ title, confidential, assignees, due_date }) => [title, confidential, (assignees as []).length, due_date],
    expected: ['One & 100% "two"', true, 1, '2026-12-24'],
  });
});

describe('writing an internal note', () => {
  let guest: Viewer;
  beforeAll(async () => void (guest = await createViewer(project, 'guest')));
  registerRefusalOrderTests(app, async () => ({
    method: 'POST',
    path: notesPath(),
    good: { body: 'x', internal: true },
    bad: { body: ['x'] },
    anonymous: service.seed.anonymous(),
    outsider: service.seed.viewer(await service.seed.user()),
    reader: guest,
    allowed: owner,
  }));
  registerParameterEncodingTests({
    app,
    to: () => ({ viewer: owner, method: 'POST', path: notesPath(), params: { body: 'a + b & c', internal: true } }),
    seen: ({ body, internal, confidential }) => [body, internal, confidential],
    expected: ['a + b & c', true, true],
  });
});

describe('an issue and a note', () => {
  let other: DirectoryProject;
  beforeAll(async () => {
    other = await service.seed.project();
    await service.seed.member({ id: owner.userId! }, other, 'owner');
    owner = { ...owner, directory: service.seed.anonymous().directory };
    await made(`/api/v4/projects/${other.id}/issues`, { title: 'there' });
  });
  registerForeignParentTests({
    app,
    viewer: () => owner,
    requests: () => {
      const elsewhere = `/api/v4/projects/${other.id}/issues`;
      return [
        { method: 'GET', path: `${elsewhere}/${issueIid}` },
        { method: 'PUT', path: `${elsewhere}/${issueIid}`, body: { title: 'y' } },
        { method: 'DELETE', path: `${elsewhere}/${issueIid}` },
        { method: 'GET', path: `${elsewhere}/1/notes/${noteId}` },
        { method: 'PUT', path: `${elsewhere}/1/notes/${noteId}`, body: { body: 'y' } },
        { method: 'DELETE', path: `${elsewhere}/1/notes/${noteId}` },
      ];
    },
    untouched: async () => (await app().as(owner).get(`${notesPath()}/${noteId}`)).body as unknown,
  });
});
