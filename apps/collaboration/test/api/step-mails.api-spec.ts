import { pipelineChanged } from '@rookery/contracts';
import { until } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import type { NotificationLevel } from '../../src/following/notification-settings/notification-levels';
import type { NotificationSwitch } from '../../src/following/notification-settings/notification-switches';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { AutoMergeRuns } from '../../src/work/merge-requests/pipelines/auto-merge-runs';
import { eventsOf, startCollaboration } from '../support/app';
import { mailbox, names } from '../support/mailbox';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { publish } from '../support/publish';

/** E-mails and to-dos about steps that change no field of a merge request, and about milestones. Source: reference work-tracking 6.4, 8.4. */
let service: SeededService;
let scene: MergeRequestScene;
const box = mailbox(() => service);
const { clear, mailTo, mails, recipients } = box;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  const { directory } = await service.app.get(ProjectRepositories).openRepository({ id: 1, defaultBranch: 'main' });
  // The worker checks merge requests too, in the same repositories.
  await box.start({ ROOKERY_REPOSITORIES: directory.split('/@hashed/')[0]! });
});
afterAll(async () => {
  await box.stop();
  await scene.stop();
  await service.close();
});
beforeEach(() => clear());

const AUDIENCE = [
  'participant',
  'subscriber',
  'watcher',
  'switched',
  'other',
  'mention',
  'disabled',
  'outsider',
] as const;
type Audience = Readonly<Record<(typeof AUDIENCE)[number], SeededUser>>;

/**
 * Creates a user for each relation to a merge request. `switched` has the switch on. `other` has it off, and others on.
 */
async function createAudience(here: MergeActions, id: number, its: NotificationSwitch | null): Promise<Audience> {
  const { seed, database } = service;
  const { project } = here.place;
  const made = {} as Record<keyof Audience, SeededUser>;
  for (const name of AUDIENCE) {
    made[name] = await seed.user();
    await seed.member(made[name], project, 'reporter');
  }
  const set = (user: SeededUser, level: NotificationLevel, switches: object = {}) =>
    database.query(
      `insert into notification_settings (user_id, source_type, source_id, level, switches) values ($1, 'project', $2, $3, $4)`,
      [user.id, project.id, level, JSON.stringify(switches)],
    );
  await set(made.watcher, 'watch');
  await set(made.switched, 'custom', its === null ? {} : { [its]: true });
  const others = { new_note: true, close_merge_request: true, merge_merge_request: true, issue_due: true };
  await set(made.other, 'custom', { ...others, ...(its === null ? {} : { [its]: false }) });
  await set(made.mention, 'mention');
  await set(made.disabled, 'disabled');
  const { participant, mention, disabled, subscriber } = made;
  await database.query(
    `insert into participants (noteable_type, noteable_id, user_id, project_id)
     select 'MergeRequest', $1, person, $2 from unnest($3::bigint[]) person`,
    [id, project.id, [participant.id, mention.id, disabled.id]],
  );
  await here
    .as(subscriber)
    .post(`${here.place.path}/${await iidOf(id)}/subscribe`)
    .expect(201);
  return made;
}
const iidOf = async (id: number): Promise<number> =>
  (await service.database.query<{ iid: number }>('select iid from merge_requests where id = $1', [id]))[0]!.iid;

type Opened = Awaited<ReturnType<MergeActions['open']>>;
interface Row {
  readonly what: string;
  readonly its: NotificationSwitch | null;
  readonly isWatched: boolean;
  readonly fields?: object;
  prepare?(here: MergeActions, made: Opened): Promise<unknown>;
  cause(here: MergeActions, made: Opened): Promise<unknown>;
  text(made: Opened): string;
}
const put = (here: MergeActions, { iid }: Opened, fields: object) =>
  here.as('maintainer').put(here.path(iid)).send(fields).expect(200);
const thread = async (here: MergeActions, { iid }: Opened, fields: object = {}): Promise<string> =>
  (
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/discussions`)
      .send({ body: 'Why?', ...fields })
      .expect(201)
  ).body.id;
const resolve = (here: MergeActions, { iid }: Opened, id: string) =>
  here
    .as('maintainer')
    .put(`${here.path(iid)}/discussions/${id}`)
    .send({ resolved: true })
    .expect(200);
const milestone = async (here: MergeActions): Promise<number> => {
  const path = `/api/v4/projects/${here.place.project.id}/milestones`;
  return (
    await here
      .as('maintainer')
      .post(path)
      .send({ title: `M <${Math.random()}>` })
      .expect(201)
  ).body.id;
};

const ROWS: Row[] = [
  {
    what: 'a push',
    ...{ its: 'push_to_merge_request', isWatched: false },
    cause: (here, { source }) => scene.push(here.place, source, ['Second', 'Third']),
    text: ({ iid }) => `pushed 2 commits to merge request !${iid}: A change`,
  },
  {
    what: 'the end of the draft',
    ...{ its: null, isWatched: true, fields: { title: 'Draft: A change' } },
    cause: (here, made) => put(here, made, { title: 'A change' }),
    text: ({ iid }) => `marked merge request !${iid} as ready: A change`,
  },
  {
    what: 'an automatic merge',
    ...{ its: 'merge_when_pipeline_succeeds', isWatched: true },
    prepare: (here, { source, commits }) => reportPipeline(here, source, commits.at(-1)!, 'running'),
    cause: (here, { iid }) => here.merge(iid, { auto_merge: true }, 'maintainer').expect(200),
    text: ({ iid }) => `set merge request !${iid} to be merged when all checks pass: A change`,
  },
  {
    what: 'the last resolved thread',
    ...{ its: null, isWatched: true },
    prepare: async (here, made) => void threads.splice(0, 9, await thread(here, made)),
    cause: (here, made) => resolve(here, made, threads[0]!),
    text: ({ iid }) => `resolved all threads of merge request !${iid}: A change`,
  },
  {
    what: 'a milestone',
    ...{ its: null, isWatched: true },
    cause: async (here, made) => put(here, made, { milestone_id: await milestone(here) }),
    text: ({ iid }) => `" of merge request !${iid}: A change`,
  },
  {
    what: 'a removed milestone',
    ...{ its: null, isWatched: true },
    prepare: async (here, made) => put(here, made, { milestone_id: await milestone(here) }),
    cause: (here, made) => put(here, made, { milestone_id: 0 }),
    text: ({ iid }) => `removed the milestone of merge request !${iid}: A change`,
  },
];
const threads: string[] = [];
let pipelines = 900;
async function reportPipeline(here: MergeActions, ref: string, sha: string, status: string): Promise<void> {
  const id = ++pipelines;
  const at = new Date().toISOString();
  const event = pipelineChanged.of({
    ...{ aggregateId: id, actorId: null },
    data: {
      ...{ pipeline_id: id, project_id: here.place.project.id, iid: id - 900, sha, ref, is_tag: false },
      ...{ source: 'external', status: status as 'running', user_id: here.place.cast.developer.id, coverage: null },
      ...{ duration: null, committed_at: null, started_at: at, finished_at: null, created_at: at, updated_at: at },
    },
  });
  await publish(box.nats(), event);
  await box.worker().drained();
}

describe('an e-mail about', () => {
  test.each(ROWS)('$what is for the users of its row, once', async (row) => {
    const here = await MergeActions.in(service, scene);
    const { developer, maintainer } = here.place.cast;
    const made = await here.open({ ...row.fields });
    await row.prepare?.(here, made);
    const audience = await createAudience(here, made.id, row.its);
    await clear();
    await row.cause(here, made);
    const { participant, subscriber, watcher, switched } = audience;
    const expected = [
      ...[participant, subscriber, developer],
      ...(row.isWatched ? [watcher] : []),
      ...(row.its === null ? [] : [switched]),
    ];
    expect(await recipients()).toEqual(names(...expected));
    expect(mails().map(({ to }) => to)).toHaveLength(expected.length);
    const mail = mailTo(participant).parsed;
    expect(mail.text).toContain(`${maintainer.name} (@${maintainer.username}) `);
    expect(mail.text).toContain(row.text(made));
    expect(mail.subject).toBe(`Re: ${here.place.project.name} | A change (!${made.iid})`);
    expect(mail.inReplyTo).toBe(`<merge_request_${made.id}@localhost>`);
  });

  test('conflicts is for the author and the user of the automatic merge only, whoever pushed', async () => {
    const here = await MergeActions.in(service, scene);
    const { place } = here;
    const { developer, maintainer } = place.cast;
    await scene.files(place, 'main', { file: 'Base\n' }, 'origin/main');
    await scene.files(place, 'topic', { file: 'Topic\n' }, 'main');
    const sent = { title: 'A change', source_branch: 'topic', target_branch: 'main' };
    const { body } = await here.as('developer').post(place.path).send(sent).expect(201);
    const audience = await createAudience(here, body.id, null);
    await service.database.query('update merge_requests set auto_merge_user_id = $1 where id = $2', [
      ...[maintainer.id, body.id],
    ]);
    await clear();
    await scene.files(place, 'main', { file: 'Main\n' }, 'main');
    expect(await here.shown(body.iid)).toMatchObject({ has_conflicts: true });
    expect(await recipients()).toEqual(names(developer, maintainer));
    expect(mailTo(developer).parsed.text).toContain(
      `Merge request !${body.iid} has conflicts and cannot be merged: A change`,
    );
    expect(Object.values(audience)).not.toContainEqual(developer);
  });

  test('a merge by the automatic merge is for its user too', async () => {
    const here = await MergeActions.in(service, scene);
    const { developer, maintainer } = here.place.cast;
    const { iid, source, commits } = await here.open();
    await reportPipeline(here, source, commits[0]!, 'running');
    await here.merge(iid, { auto_merge: true }, 'maintainer').expect(200);
    await clear();
    await service.database.query(`update ci_pipelines set status = 'success' where project_id = $1`, [
      here.place.project.id,
    ]);
    await service.app.get(AutoMergeRuns).tryAll(null);
    await until(async () => (await here.shown(iid))['state'] === 'merged', 'the merge');
    expect(await recipients()).toEqual(names(developer, maintainer));
    expect(mailTo(maintainer).parsed.text).toContain(`merged merge request !${iid}`);
    await clear();
    const other = await here.open();
    await here.merge(other.iid, {}, 'maintainer').expect(200);
    expect(await recipients()).toEqual(names(developer));
  });
});

const stepsOf = async (made: Opened) =>
  (await eventsOf(service.database, 'collaboration.merge_request.progressed.v1'))
    .filter((data) => data['merge_request_id'] === made.id)
    .map((data) => data['step']);

test('internal threads are not announced, and public ones are, although internal ones are open', async () => {
  const here = await MergeActions.in(service, scene);
  const made = await here.open();
  const internal = () => thread(here, made, { internal: true });
  const notes = async () => (await here.notes(made.iid)).filter((body) => body === 'resolved all threads');
  await resolve(here, made, await internal());
  expect([await stepsOf(made), await notes()]).toEqual([[], []]);
  const [hidden, shown] = [await internal(), await thread(here, made)];
  await resolve(here, made, shown);
  expect(await stepsOf(made)).toEqual(['threads_resolved']);
  await resolve(here, made, hidden);
  expect(await stepsOf(made)).toEqual(['threads_resolved']);
  expect(await notes()).toHaveLength(1);
});

test('only the last thread that is resolved is announced', async () => {
  const here = await MergeActions.in(service, scene);
  const made = await here.open();
  const [first, second] = [await thread(here, made), await thread(here, made)];
  const steps = () => stepsOf(made);
  await resolve(here, made, first);
  expect(await steps()).toEqual([]);
  await resolve(here, made, second);
  expect(await steps()).toEqual(['threads_resolved']);
  await resolve(here, made, second);
  expect(await steps()).toEqual(['threads_resolved']);
});

describe("a user's to-do is settled by", () => {
  const pending = async (here: MergeActions, who: 'maintainer' | 'developer') => {
    await box.worker().drained();
    return (await here.as(who).get('/api/v4/todos').expect(200)).body as unknown[];
  };
  const causes: [string, (here: MergeActions, made: Opened) => Promise<unknown>][] = [
    ['a push to the merge request', (here, { source }) => scene.push(here.place, source, ['Second'])],
    ['a new milestone', async (here, made) => put(here, made, { milestone_id: await milestone(here) })],
  ];
  test.each(causes)('%s, and those of others stay', async (_, cause) => {
    const here = await MergeActions.in(service, scene);
    const made = await here.open();
    for (const who of ['maintainer', 'developer'] as const)
      await here
        .as(who)
        .post(`${here.path(made.iid)}/todo`)
        .expect(201);
    expect(await pending(here, 'maintainer')).toHaveLength(1);
    await cause(here, made);
    expect(await pending(here, 'maintainer')).toEqual([]);
    expect(await pending(here, 'developer')).toHaveLength(1);
  });
});
