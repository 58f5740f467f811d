import type { Viewer } from '@rookery/kernel';
import { registerNumberLimitTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let admin: Viewer;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  service = await startCollaboration();
  admin = service.seed.viewer(await service.seed.user({ admin: true }));
  const project = await service.seed.project({ visibility: 'public' });
  const issues = `/api/v4/projects/${project.id}/issues`;
  const { body: issue } = await service.app.as(admin).post(issues).send({ title: 'First egg' }).expect(201);
  const { body: note } = await service.app.as(admin).post(`${issues}/${issue.iid}/notes`).send({ body: 'Blue' });
  ids = { projects: project.id, issues: issue.iid, notes: note.id };
});
afterAll(() => service.close());

registerNumberLimitTests({
  app: () => service.app,
  viewer: () => admin,
  ids: () => ids,
  params: { 'POST /api/v4/projects/:id/issues': (serial) => ({ title: `Egg ${serial}` }) },
});
