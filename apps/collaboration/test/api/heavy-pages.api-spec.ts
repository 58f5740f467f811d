import { once } from 'node:events';
import { Writable } from 'node:stream';
import type { DirectoryProject } from '@rookery/contracts';
import { MAX_PAGE_BYTES, ORDINARY_PAGE_BYTES } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';

/** Number of rows whose texts together exceed the limit of a page. */
const ROWS = 40;
const LONGEST = { milestone: 524_288, label: 524_288, note: 1_000_000, issue: 1_048_576 };
/** A character of two bytes: one MiB in the longest description. */
const WIDE = 'ö';

let service: SeededService;
let project: DirectoryProject;
let viewer: Viewer;
beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project({ visibility: 'public' });
  const user = await service.seed.user();
  viewer = service.seed.viewer(user);
  const insert = (sql: string, ...values: unknown[]): Promise<unknown> => service.database.query(sql, values);
  await insert(
    `insert into milestones (project_id, iid, title, description)
     select $1, g, 'v' || g, repeat($2, $3) from generate_series(1, ${ROWS}) g`,
    project.id,
    WIDE,
    LONGEST.milestone,
  );
  await insert(
    `insert into labels (project_id, title, description, description_html, color, text_color)
     select $1, 'l' || g, repeat($2, $3), '', '#ffffff', '#000000' from generate_series(1, ${ROWS}) g`,
    project.id,
    WIDE,
    LONGEST.label,
  );
  await insert(
    `insert into issues (project_id, iid, author_id, title, milestone_id, public_notes_count)
     select $1, g, $2, 'Issue ' || g, (select id from milestones where project_id = $1 and iid = 1),
       case when g = 1 then ${ROWS} else 0 end from generate_series(1, ${ROWS}) g`,
    project.id,
    user.id,
  );
  await insert(
    `insert into notes (noteable_type, noteable_id, project_id, author_id, body)
     select 'Issue', i.id, $1, $2, repeat('a', $3) from issues i, generate_series(1, ${ROWS})
     where i.project_id = $1 and i.iid = 1`,
    project.id,
    user.id,
    LONGEST.note,
  );
  await insert(
    `insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select 'Issue', i.id, l.id, $1 from issues i, labels l where i.project_id = $1 and l.project_id = $1 and l.title = 'l1'`,
    project.id,
  );
  await insert(
    `insert into resource_milestone_events (noteable_type, noteable_id, project_id, user_id, milestone_id, action, created_at)
     select 'Issue', i.id, $1, $2, i.milestone_id, 'add', now() from issues i, generate_series(1, ${ROWS})
     where i.project_id = $1 and i.iid = 1`,
    project.id,
    user.id,
  );
  await insert(
    `insert into resource_label_events (noteable_type, noteable_id, project_id, user_id, label_id, action, created_at)
     select 'Issue', k.noteable_id, $1, $2, k.label_id, 'add', now()
     from label_links k join issues i on i.id = k.noteable_id, generate_series(1, ${ROWS})
     where i.project_id = $1 and i.iid = 1`,
    project.id,
    user.id,
  );
  await insert(
    `insert into todos (user_id, author_id, action, project_id, target_type, target_id, source_event_id, created_at, updated_at)
     select $2, $2, 'mentioned', $1, 'Issue', i.id, gen_random_uuid(), now(), now() from issues i where i.project_id = $1`,
    project.id,
    user.id,
  );
  await insert(
    `insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
       source_event_id, created_at)
     select $1, $2, 'commented', 'Note', n.id, 'Issue', n.noteable_id, gen_random_uuid(), now()
     from notes n where n.project_id = $1`,
    project.id,
    user.id,
  );
});
afterAll(() => service.close());

const issueSubpath = (rest: string) => (id: number) => `/api/v4/projects/${id}/issues/1/${rest}`;
const LISTS: readonly [string, (project: number) => string, Readonly<Record<string, unknown>>][] = [
  ['issues with their milestone', (id) => `/api/v4/projects/${id}/issues`, {}],
  ['issues with the details of their labels', (id) => `/api/v4/projects/${id}/issues`, { with_labels_details: true }],
  ['milestones', (id) => `/api/v4/projects/${id}/milestones`, {}],
  ['labels', (id) => `/api/v4/projects/${id}/labels`, {}],
  ['notes', issueSubpath('notes'), {}],
  ['discussions', issueSubpath('discussions'), {}],
  ['changes of the milestone', issueSubpath('resource_milestone_events'), {}],
  ['changes of labels', issueSubpath('resource_label_events'), {}],
  ['to-dos', () => '/api/v4/todos', {}],
  ['events of a project', (id) => `/api/v4/projects/${id}/events`, {}],
  ['events of the caller', () => '/api/v4/events', {}],
];

describe.each(LISTS)('a page of %s', (_, path, query) => {
  const page = async (perPage: number) =>
    service.app
      .as(viewer)
      .get(path(project.id))
      .query({ ...query, per_page: perPage });

  it('is complete when its texts are long', async () => {
    const { status, body, headers } = await page(5);
    expect([status, (body as unknown[]).length, headers['x-total']]).toEqual([200, 5, String(ROWS)]);
    const bytes = Number(headers['content-length']);
    expect(bytes).toBeGreaterThan(ORDINARY_PAGE_BYTES);
    expect(bytes).toBeLessThan(MAX_PAGE_BYTES);
  });

  it('is refused when its texts exceed the limit of a page, and works with a smaller size', async () => {
    const { status, body } = await page(ROWS);
    expect([status, body]).toEqual([
      400,
      { error: 'per_page is too large for these texts (a page holds at most 32 MiB of them)' },
    ]);
    const { headers } = await page(10);
    expect(Number(headers['content-length'])).toBeLessThan(MAX_PAGE_BYTES);
    expect(headers['x-next-page']).toBe('2');
  });
});

describe('while a caller does not read their answer', () => {
  const page = (of: Viewer, perPage = 20, waitMs?: number) =>
    service.app
      .as(of, { isUncounted: true, ...(waitMs === undefined ? {} : { waitMs }) })
      .get(issueSubpath('notes')(project.id))
      .query({ per_page: perPage });
  const held: (() => void)[] = [];
  const readers: Promise<unknown>[] = [];
  let isOver = false;
  const holdPage = (of: Viewer): Promise<void> =>
    new Promise((begun) => {
      const write = (_: unknown, __: unknown, done: () => void): void => {
        if (isOver) return done();
        held.push(done);
        begun();
      };
      const reader = new Writable({ write });
      readers.push(once(reader, 'finish'));
      page(of).pipe(reader);
    });
  beforeEach(() => (isOver = false));
  afterEach(async () => {
    isOver = true;
    for (const done of held.splice(0)) done();
    await Promise.all(readers.splice(0));
  });

  it('other callers do not wait for heavy pages', async () => {
    // As many readers as there are permits for heavy pages.
    for (let place = 0; place < 2; place += 1) await holdPage(service.seed.viewer(await service.seed.user()));
    const { status, body } = await page(viewer);
    expect([status, (body as unknown[]).length]).toEqual([200, 20]);
  });

  it('their own heavy pages wait, and small ones do not', async () => {
    const reader = service.seed.viewer(await service.seed.user());
    await holdPage(reader);
    expect((await page(reader, 1, 1000)).status).toBe(429);
    await service.app.as(reader).get(`/api/v4/projects/${project.id}/labels`).query({ search: 'none' }).expect(200);
    expect((await page(viewer, 1)).status).toBe(200);
  });
});

it('the limit applies to issues of a milestone, too', async () => {
  const { body } = await service.app.as(viewer).get(`/api/v4/projects/${project.id}/milestones`).query({ iids: 1 });
  const [{ id }] = body as [{ id: number }];
  const list = service.app.as(viewer).get(`/api/v4/projects/${project.id}/milestones/${id}/issues`);
  await list.query({ per_page: ROWS }).expect(400);
});

it('a single issue is shown however long it is', async () => {
  const description = WIDE.repeat(LONGEST.issue);
  await service.database.query(`update issues set description = $1 where project_id = $2 and iid = 2`, [
    description,
    project.id,
  ]);
  const { body } = await service.app.as(viewer).get(`/api/v4/projects/${project.id}/issues/2`).expect(200);
  expect((body as { description: string }).description.length).toBe(LONGEST.issue);
});
