import type { DirectoryProject } from '@rookery/contracts';
import { anonymousViewer } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

const as = (who: SeededUser) => service.app.as(service.seed.viewer(who));
const counts = (who: SeededUser) => as(who).get('/api/v4/user_counts');

async function createAssignedIssue(
  by: SeededUser,
  project: DirectoryProject,
  assignee: SeededUser,
  over = {},
): Promise<{ id: number; iid: number }> {
  const body = { title: 'A title', assignee_ids: [assignee.id], ...over };
  return (await as(by).post(`/api/v4/projects/${project.id}/issues`).send(body).expect(201)).body;
}
async function todo(user: SeededUser, project: DirectoryProject, issueId: number, state = 'pending'): Promise<void> {
  await service.database.query(
    `insert into todos (user_id, author_id, action, project_id, target_type, target_id, source_event_id, state, created_at, updated_at)
     values ($1, 1, 'marked', $2, 'Issue', $3, gen_random_uuid(), $4, now(), now())`,
    [user.id, project.id, issueId, state],
  );
}

describe('GET /user_counts', () => {
  it('is zero for a new user', async () => {
    const { status, body } = await counts(await service.seed.user());
    expect([status, body]).toEqual([
      200,
      {
        merge_requests: 0,
        assigned_issues: 0,
        assigned_merge_requests: 0,
        review_requested_merge_requests: 0,
        todos: 0,
      },
    ]);
  });

  it('counts visible open issues and pending to-dos', async () => {
    const [root, ada] = [await service.seed.user({ admin: true }), await service.seed.user()];
    const open = await service.seed.project({ visibility: 'public' });
    const closed = await service.seed.project({ visibility: 'private' });
    await service.seed.member(ada, closed, 'guest');
    const first = await createAssignedIssue(root, open, ada);
    await createAssignedIssue(root, open, ada, { confidential: true });
    const done = await createAssignedIssue(root, open, ada);
    await as(root).put(`/api/v4/projects/${open.id}/issues/${done.iid}`).send({ state_event: 'close' }).expect(200);
    const inside = await createAssignedIssue(root, closed, ada);
    await createAssignedIssue(root, open, root);
    await todo(ada, open, first.id);
    await todo(ada, closed, inside.id);
    await todo(ada, open, first.id, 'done');
    expect((await counts(ada)).body).toMatchObject({ assigned_issues: 3, todos: 2 });

    await service.database.query('delete from directory_memberships where user_id = $1', [ada.id]);
    expect((await counts(ada)).body).toMatchObject({ assigned_issues: 2, todos: 1 });
    await service.database.query(`update directory_projects set issues_access_level = 'disabled' where id = $1`, [
      open.id,
    ]);
    expect((await counts(ada)).body).toMatchObject({ assigned_issues: 0, todos: 0 });
  });

  it('needs a token with a sufficient scope', async () => {
    expect((await service.app.as(anonymousViewer()).get('/api/v4/user_counts')).body).toEqual({
      message: '401 Unauthorized',
    });
    const viewer = { ...service.seed.viewer(await service.seed.user()), scopes: ['read_registry'] };
    const refused = await service.app.as(viewer).get('/api/v4/user_counts');
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api read_api',
      },
    ]);
  });
});
