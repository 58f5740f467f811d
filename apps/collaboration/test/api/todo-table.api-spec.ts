import { accessRequestChanged, pipelineChanged } from '@rookery/contracts';
import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import type { TodoAction } from '../../src/following/todos/todo-actions';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Each row of reference work-tracking 6.3 and 6.4 that has a trigger, through the bus: receivers, others, contents. */
let service: SeededService;
let scene: MergeRequestScene;
let nats: PrivateNats;
let worker: Worker;
let here: MergeActions;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  nats = await startNats();
  const { directory } = await service.app.get(ProjectRepositories).openRepository({ id: 1, defaultBranch: 'main' });
  const env = { ROOKERY_REPOSITORIES: directory.split('/@hashed/')[0]! };
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await scene.stop();
  await service.close();
});
beforeEach(async () => void (here = await MergeActions.in(service, scene)));

type Who = keyof Cast;
const AUDIENCE: readonly Who[] = [
  ...(['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner', 'stranger'] as const),
];
interface Target {
  readonly id: number;
  readonly iid?: number;
  readonly noteId?: number;
}
interface Shown {
  readonly id: number;
  readonly action_name: string;
  readonly target_type: string;
  readonly target_url: string;
  readonly body: string;
  readonly author: { readonly id: number };
}
const projectPath = () => `/api/v4/projects/${here.place.project.id}`;
const send = async (
  who: Who,
  method: 'post' | 'put',
  tail: string,
  body: object = {},
): Promise<Target & { iid: number }> => {
  const answer = await here.as(who)[method](`${projectPath()}/${tail}`).send(body);
  if (answer.status >= 300) throw new Error(`${tail}: ${answer.status} ${answer.text}`);
  return answer.body as Target & { iid: number };
};
const id = (who: Who) => here.place.cast[who].id;
const mentionOf = (who: Who) => `@${here.place.cast[who].username}`;
const issue = (fields: object = {}) => send('developer', 'post', 'issues', { title: 'A title', ...fields });
const mergeRequest = (fields: Record<string, unknown> = {}) => here.open({ title: 'A title', ...fields });
/** Adds a comment by the developer. Returns the target with the id of the note. */
async function comment(
  kind: 'issues' | 'merge_requests',
  target: Target & { iid: number },
  body: string,
): Promise<Target> {
  const { id: noteId } = await send('developer', 'post', `${kind}/${target.iid}/notes`, { body });
  return { ...target, noteId };
}
let pipelines = 7000;
let moment = Date.parse('2026-11-29T10:00:00.000Z');
async function reportPipeline(ref: string, sha: string, status: string, pipelineId = ++pipelines): Promise<number> {
  const now = new Date((moment += 1000)).toISOString();
  const event = pipelineChanged.of({
    ...{ aggregateId: pipelineId, actorId: null },
    data: {
      ...{
        pipeline_id: pipelineId,
        project_id: here.place.project.id,
        iid: pipelineId - 6999,
        sha,
        ref,
        is_tag: false,
      },
      ...{ source: 'external', status: status as 'running', user_id: id('developer'), coverage: null, duration: null },
      ...{ committed_at: null, started_at: now, finished_at: null, created_at: now, updated_at: now },
    },
  });
  await publish(nats, event);
  await worker.drained();
  return pipelineId;
}
async function requestAccess(state: 'requested' | 'accepted' | 'denied' | 'withdrawn'): Promise<Target> {
  const { id: source_id } = here.place.project;
  const data = { user_id: id('stranger'), source_type: 'project' as const, source_id, state };
  const changed_at = new Date((moment += 1000)).toISOString();
  await publish(
    nats,
    accessRequestChanged.of({ aggregateId: 1, actorId: data.user_id, data: { ...data, changed_at } }),
  );
  return { id: source_id };
}
async function todosOf(who: Who, state: 'pending' | 'done' = 'pending'): Promise<readonly Shown[]> {
  const query = { state, project_id: here.place.project.id };
  return (await here.as(who).get('/api/v4/todos').query(query).expect(200)).body as Shown[];
}
/** Returns the users of the audience with pending to-dos. Each name occurs as often as the user has to-dos. */
async function receivers(): Promise<string[]> {
  await worker.drained();
  const found: string[] = [];
  for (const who of AUDIENCE) for (const _ of await todosOf(who)) found.push(who);
  return found;
}

interface Raised {
  readonly what: string;
  readonly action: TodoAction;
  readonly to: readonly Who[];
  /** The user who caused it. Without, it is the receiver. */
  readonly by?: Who;
  readonly type: 'Issue' | 'MergeRequest' | 'Commit' | 'Project';
  readonly body?: string;
  readonly tail?: (target: Target) => string;
  cause(): Promise<Target>;
}
const onIssue = { type: 'Issue', tail: ({ iid }: Target) => `/-/issues/${iid}` } as const;
const onChange = { type: 'MergeRequest', tail: ({ iid }: Target) => `/-/merge_requests/${iid}` } as const;
const RAISED: Raised[] = [
  {
    ...{ what: 'an issue is opened for users, its author among them', action: 'assigned', by: 'developer', ...onIssue },
    ...{ to: ['reporter', 'developer'] },
    cause: () => issue({ assignee_ids: [id('developer'), id('reporter')] }),
  },
  {
    ...{ what: 'a user is added to the assignees', action: 'assigned', to: ['guest'], by: 'developer', ...onIssue },
    async cause() {
      const made = await issue({ assignee_ids: [id('reporter')] });
      await worker.drained();
      await here.as('reporter').post('/api/v4/todos/mark_as_done').expect(204);
      return send('developer', 'put', `issues/${made.iid}`, { assignee_ids: [id('reporter'), id('guest')] });
    },
  },
  {
    ...{
      what: 'a merge request is opened for a user',
      action: 'assigned',
      to: ['owner'],
      by: 'developer',
      ...onChange,
    },
    cause: () => mergeRequest({ assignee_ids: [id('owner')] }),
  },
  {
    ...{
      what: 'a merge request is opened with a reviewer',
      action: 'review_requested',
      to: ['owner'],
      by: 'developer',
    },
    ...onChange,
    cause: () => mergeRequest({ reviewer_ids: [id('owner')] }),
  },
  {
    ...{ what: 'a reviewer is added', action: 'review_requested', to: ['reporter'], by: 'developer', ...onChange },
    async cause() {
      const made = await mergeRequest();
      return send('developer', 'put', `merge_requests/${made.iid}`, { reviewer_ids: [id('reporter')] });
    },
  },
  {
    ...{
      what: 'a description mentions users, the author among them',
      action: 'mentioned',
      by: 'developer',
      ...onIssue,
    },
    ...{ to: ['guest', 'developer'] },
    cause: () =>
      issue({ description: `See ${mentionOf('guest')}, ${mentionOf('developer')} and \`${mentionOf('owner')}\`` }),
  },
  {
    ...{
      what: 'a confidential issue mentions users',
      action: 'mentioned',
      to: ['planner'],
      by: 'developer',
      ...onIssue,
    },
    cause: () =>
      issue({
        confidential: true,
        description: `See ${mentionOf('guest')}, ${mentionOf('planner')}, ${mentionOf('stranger')}`,
      }),
  },
  {
    ...{ what: 'a comment on an issue mentions a user', action: 'mentioned', to: ['guest'], by: 'developer' },
    ...{ type: 'Issue', tail: ({ iid, noteId }) => `/-/issues/${iid}#note_${noteId}`, body: 'Look' },
    cause: async () => comment('issues', await issue(), `Look, ${mentionOf('guest')}`),
  },
  {
    ...{
      what: 'an internal note mentions users',
      action: 'mentioned',
      to: ['reporter'],
      by: 'developer',
      body: 'Look',
    },
    ...{ type: 'Issue', tail: ({ iid, noteId }) => `/-/issues/${iid}#note_${noteId}` },
    async cause() {
      const made = await issue();
      const body = `Look, ${mentionOf('guest')} and ${mentionOf('reporter')}`;
      const { id: noteId } = await send('developer', 'post', `issues/${made.iid}/notes`, { body, internal: true });
      return { ...made, noteId };
    },
  },
  {
    ...{ what: 'a line begins with a user', action: 'directly_addressed', to: ['owner'], by: 'developer', ...onIssue },
    cause: () => issue({ description: `First\n${mentionOf('owner')} look` }),
  },
  {
    ...{ what: 'a merge request mentions a user', action: 'mentioned', to: ['owner'], by: 'developer', ...onChange },
    cause: () => mergeRequest({ description: `See ${mentionOf('owner')}` }),
  },
  {
    ...{ what: 'a comment on a merge request addresses a user', action: 'directly_addressed', to: ['owner'] },
    ...{ by: 'developer', type: 'MergeRequest', body: '@' },
    tail: ({ iid, noteId }) => `/-/merge_requests/${iid}#note_${noteId}`,
    cause: async () => comment('merge_requests', await mergeRequest(), `${mentionOf('owner')} look`),
  },
  {
    ...{
      what: 'a comment on a commit mentions a user',
      action: 'mentioned',
      to: ['owner'],
      by: 'developer',
      body: 'Look',
    },
    ...{ type: 'Commit' },
    cause: () =>
      send('developer', 'post', `repository/commits/${here.place.mainSha}/comments`, {
        note: `Look, ${mentionOf('owner')}`,
      }),
  },
  {
    ...{ what: 'a user adds it to an issue', action: 'marked', to: ['guest'], ...onIssue },
    async cause() {
      const made = await issue();
      await send('guest', 'post', `issues/${made.iid}/todo`);
      return made;
    },
  },
  {
    ...{ what: 'a user adds it to a merge request', action: 'marked', to: ['reporter'], ...onChange },
    async cause() {
      const made = await mergeRequest();
      await send('reporter', 'post', `merge_requests/${made.iid}/todo`);
      return made;
    },
  },
  {
    ...{ what: 'the pipeline of a merge request fails', action: 'build_failed', to: ['developer', 'maintainer'] },
    ...{ type: 'MergeRequest', tail: ({ iid }) => `/-/merge_requests/${iid}/pipelines` },
    async cause() {
      const made = await mergeRequest();
      const running = await reportPipeline(made.source, made.commits[0]!, 'running');
      await here.merge(made.iid, { auto_merge: true }, 'maintainer').expect(200);
      await reportPipeline(made.source, made.commits[0]!, 'failed', running);
      return made;
    },
  },
  {
    ...{ what: 'a stranger requests access', action: 'member_access_requested', to: ['maintainer', 'owner'] },
    ...{ by: 'stranger', type: 'Project', tail: () => '/-/project_members?tab=access_requests' },
    cause: () => requestAccess('requested'),
  },
];

test.each(RAISED)('$action: $what', async (row) => {
  const target = await row.cause();
  expect(await receivers()).toEqual(AUDIENCE.filter((who) => row.to.includes(who)));
  for (const who of row.to) {
    const [todo] = await todosOf(who);
    expect(todo).toMatchObject({ action_name: row.action, target_type: row.type, author: { id: id(row.by ?? who) } });
    if (row.type !== 'Project') expect(todo!.body).toContain(row.body ?? (row.type === 'Commit' ? '' : 'A title'));
    if (row.tail) expect(todo!.target_url).toBe(`http://localhost:8080/${here.place.fullPath}${row.tail(target)}`);
  }
});

test.each<[string, (made: Target & { iid: number }) => Promise<unknown>]>([
  [
    'an edit of a comment, for a user who was mentioned before',
    async (made) => {
      const { noteId } = await comment('issues', made, `Look, ${mentionOf('guest')}`);
      await worker.drained();
      await here.as('guest').post('/api/v4/todos/mark_as_done').expect(204);
      await send('developer', 'put', `issues/${made.iid}/notes/${noteId}`, {
        body: `Look again, ${mentionOf('guest')}`,
      });
    },
  ],
  [
    'an edit of the description, for a user who was mentioned before',
    async (made) => {
      await send('developer', 'put', `issues/${made.iid}`, { description: `See ${mentionOf('guest')}` });
      await worker.drained();
      await here.as('guest').post('/api/v4/todos/mark_as_done').expect(204);
      await send('developer', 'put', `issues/${made.iid}`, { description: `See ${mentionOf('guest')} again` });
    },
  ],
  [
    'a mention in a comment on a snippet',
    async () => {
      const files = [{ file_path: 'a', content: 'b' }];
      const made = await send('developer', 'post', 'snippets', { title: 'A title', visibility: 'public', files });
      await send('developer', 'post', `snippets/${made.id}/notes`, { body: `Look, ${mentionOf('guest')}` });
    },
  ],
  ['a system note', async (made) => send('developer', 'put', `issues/${made.iid}`, { title: 'Another title' })],
])('%s raises none', async (_, cause) => {
  await cause(await issue());
  expect(await receivers()).toEqual([]);
});

interface Settled {
  readonly what: string;
  /** The user who acts; the to-do of the other one stays. */
  readonly settles: boolean;
  act(made: Opened): Promise<unknown>;
}
type Opened = Awaited<ReturnType<MergeActions['open']>>;
const edit =
  (fields: object) =>
  ({ iid }: Opened) =>
    send('maintainer', 'put', `merge_requests/${iid}`, fields);
const SETTLED: Settled[] = [
  {
    what: 'a comment',
    settles: true,
    act: ({ iid }) => send('maintainer', 'post', `merge_requests/${iid}/notes`, { body: 'Seen' }),
  },
  { what: 'another title', settles: true, act: edit({ title: 'Another title' }) },
  { what: 'another description', settles: true, act: edit({ description: 'Another' }) },
  { what: 'an assignee', settles: true, act: (made) => edit({ assignee_ids: [id('owner')] })(made) },
  { what: 'a reviewer', settles: true, act: (made) => edit({ reviewer_ids: [id('owner')] })(made) },
  { what: 'a label', settles: true, act: edit({ add_labels: 'bug' }) },
  {
    what: 'an emoji',
    settles: true,
    act: ({ iid }) => send('maintainer', 'post', `merge_requests/${iid}/award_emoji`, { name: 'thumbsup' }),
  },
  { what: 'closing', settles: true, act: edit({ state_event: 'close' }) },
  {
    ...{ what: 'reopening', settles: true },
    async act({ iid }) {
      await send('owner', 'put', `merge_requests/${iid}`, { state_event: 'close' });
      await send('maintainer', 'put', `merge_requests/${iid}`, { state_event: 'reopen' });
    },
  },
  { what: 'merging', settles: true, act: ({ iid }) => here.merge(iid, {}, 'maintainer').expect(200) },
  { what: 'an approval', settles: true, act: ({ iid }) => send('maintainer', 'post', `merge_requests/${iid}/approve`) },
  {
    what: 'the command /done',
    settles: true,
    act: ({ iid }) =>
      send('maintainer', 'post', `merge_requests/${iid}/notes`, { body: '/done' }).catch(() => undefined),
  },
  { what: 'assigning oneself', settles: false, act: (made) => edit({ assignee_ids: [id('maintainer')] })(made) },
  {
    what: 'time tracking',
    settles: false,
    act: ({ iid }) => send('maintainer', 'post', `merge_requests/${iid}/add_spent_time`, { duration: '1h' }),
  },
  { what: 'reading', settles: false, act: ({ iid }) => here.shown(iid, 'maintainer') },
];

test.each(SETTLED)(
  '$what settles the to-do of the user who acts: $settles, and not that of another user',
  async (row) => {
    const made = await mergeRequest();
    for (const who of ['maintainer', 'reporter'] as const) await send(who, 'post', `merge_requests/${made.iid}/todo`);
    await row.act(made);
    await worker.drained();
    const marked = async (who: Who) => (await todosOf(who)).filter(({ action_name: action }) => action === 'marked');
    expect(await marked('maintainer')).toHaveLength(row.settles ? 0 : 1);
    expect(await marked('reporter')).toHaveLength(1);
  },
);

test.each(['accepted', 'denied', 'withdrawn'] as const)(
  'a request that is %s settles the to-dos of all users',
  async (state) => {
    await requestAccess('requested');
    expect(await receivers()).toEqual(['maintainer', 'owner']);
    await requestAccess(state);
    expect(await receivers()).toEqual([]);
  },
);

test('a successful pipeline settles what the failure raised, and a repeated one all to-dos of the author', async () => {
  const made = await mergeRequest();
  const failed = await reportPipeline(made.source, made.commits[0]!, 'failed');
  expect(await receivers()).toEqual(['developer']);
  await send('developer', 'post', `merge_requests/${made.iid}/todo`).catch(() => undefined);
  await reportPipeline(made.source, made.commits[0]!, 'running', failed);
  expect(await receivers()).toEqual([]);
  await reportPipeline(made.source, made.commits[0]!, 'failed', failed);
  expect(await receivers()).toEqual(['developer']);
  await reportPipeline(made.source, made.commits[0]!, 'success', failed);
  expect(await receivers()).toEqual([]);
});

test('a removed reviewer has no to-do any more', async () => {
  const made = await mergeRequest({ reviewer_ids: [id('owner')] });
  expect(await receivers()).toEqual(['owner']);
  await send('developer', 'put', `merge_requests/${made.iid}`, { reviewer_ids: [] });
  expect(await receivers()).toEqual([]);
});
