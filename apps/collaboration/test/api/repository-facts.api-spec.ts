import { internalAuthorization } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';

let collaboration: SeededService;
beforeAll(async () => {
  collaboration = await startCollaboration();
});
afterAll(() => collaboration.close());

const postFactsRequest = (
  body: object,
  authorization = internalAuthorization('identity', 'collaboration'),
): Promise<Response> =>
  collaboration.app.bare().post('/internal/repositories/facts').send(body).set('authorization', authorization);

it('returns the default branch of the directory, and no commits and tags', async () => {
  const group = await collaboration.seed.group();
  const [named, nameless] = [
    await collaboration.seed.project({ namespace_id: group.id, default_branch: 'trunk' }),
    await collaboration.seed.project({ namespace_id: group.id, default_branch: null }),
  ];
  const { status, body } = await postFactsRequest({ project_ids: [named.id, nameless.id, 987654321] });
  expect(status).toBe(200);
  expect(body.projects).toHaveLength(2);
  expect(body.projects).toEqual(
    expect.arrayContaining([
      { project_id: named.id, default_branch: 'trunk', commit_sha: null, latest_tag: null },
      { project_id: nameless.id, default_branch: null, commit_sha: null, latest_tag: null },
    ]),
  );
  expect((await postFactsRequest({ project_ids: [] })).body).toEqual({ projects: [] });
});

it('answers only identity, for at most 100 projects', async () => {
  expect((await postFactsRequest({ project_ids: [] }, 'Bearer wrong')).status).toBe(401);
  expect((await postFactsRequest({ project_ids: [] }, internalAuthorization('gateway', 'collaboration'))).status).toBe(
    403,
  );
  for (const project_ids of [undefined, 'x', [1.5], ['1'], [1e300], Array.from({ length: 101 }, (_, id) => id)]) {
    const refused = await postFactsRequest({ project_ids });
    expect([refused.status, refused.body]).toEqual([400, { error: 'project_ids is invalid' }]);
  }
});
