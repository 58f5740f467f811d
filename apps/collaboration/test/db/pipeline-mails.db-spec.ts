import { pipelineDeleted, pipelineFinished } from '@rookery/contracts';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { deleteOldRows } from '../support/old-rows';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type PipelineStatus = 'success' | 'failed' | 'canceled' | 'skipped';
type PipelineMailTemplate = 'failed_pipeline' | 'fixed_pipeline' | 'success_pipeline';
const SHA = '0123456789'.repeat(4);
const AWAY = { SMTP_URL: 'smtp://127.0.0.1:9', MAILER_RETRY_FIRST_MS: '1' };

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
let user: SeededUser;
let pipelines = 300;

const start = async (env: Record<string, string> = {}): Promise<void> => {
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url, ...env } });
};
beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  await start();
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  const { seed } = service;
  await service.database.query('delete from pipeline_mails');
  smtp.mails.length = 0;
  group = await seed.group();
  project = await seed.project({ namespace_id: group.id, visibility: 'private' });
  user = await seed.user();
  await seed.member(user, project, 'developer');
});

const pipelineFinishedEvent = (
  status: PipelineStatus,
  previous: PipelineStatus | null,
  over: { ref?: string; user_id?: number | null } = {},
) => {
  const id = ++pipelines;
  return pipelineFinished.of({
    aggregateId: id,
    actorId: null,
    data: {
      ...{ pipeline_id: id, project_id: project.id, iid: id - 300, sha: SHA, ref: 'main', is_tag: false },
      ...{ source: 'external', status, previous_status: previous, user_id: user.id },
      ...{ finished_at: new Date().toISOString(), ...over },
    },
  });
};
async function finishPipeline(...of: Parameters<typeof pipelineFinishedEvent>): Promise<void> {
  await publish(nats, pipelineFinishedEvent(...of));
  await worker.drained();
  await waitUntilMailsAreSent();
}
const waitUntilMailsAreSent = () => until(async () => (await states('queued')).length === 0, 'an empty queue');
const states = async (state: string): Promise<unknown[]> =>
  service.database.query('select 1 from pipeline_mails where state = $1', [state]);
const setLevel = (place: 'project' | 'namespace' | 'global', level: string, switches: object = {}) =>
  service.database.query(
    `insert into notification_settings (user_id, source_type, source_id, level, switches) values ($1, $2, $3, $4, $5)`,
    [user.id, place, { project: project.id, namespace: group.id, global: 0 }[place], level, JSON.stringify(switches)],
  );
/** Ends a failed, a fixed and a successful pipeline. Returns the templates of the e-mails that were sent. */
async function sendOneOfEachTemplate(): Promise<string[]> {
  await finishPipeline('failed', 'success');
  await finishPipeline('success', 'failed');
  await finishPipeline('success', 'success');
  const rows = await service.database.query<{ template: PipelineMailTemplate }>(
    `select template from pipeline_mails where state = 'sent' order by id`,
  );
  expect(smtp.mails).toHaveLength(rows.length);
  return rows.map(({ template }) => template.replace('_pipeline', ''));
}

test('the user of a failed pipeline gets an e-mail, once for an event that is delivered twice', async () => {
  const event = pipelineFinishedEvent('failed', null);
  const id = await publish(nats, event);
  await worker.drained();
  await publish(nats, event, id);
  await worker.drained();
  await waitUntilMailsAreSent();
  expect(smtp.mails).toHaveLength(1);
  const [{ to, parsed }] = smtp.mails as [MailServer['mails'][0]];
  const base = `http://localhost:8080/${group.full_path}/${project.path}`;
  expect(to).toBe(user.notification_email);
  expect(parsed.subject).toBe(`${project.name} | Failed pipeline for main | 01234567`);
  expect(parsed.text).toContain(
    `Pipeline #${pipelines} of the branch main has failed.\n${base}/-/pipelines/${pipelines}`,
  );
  expect(parsed.html).toContain(`<a href="${base}/-/commit/${SHA}">01234567</a>`);
  const headers = Object.fromEntries(
    ['project', 'project-id', 'project-path', 'pipeline-id', 'pipeline-iid', 'pipeline-ref', 'pipeline-status'].map(
      (name) => [name, parsed.headers.get(`x-platform-${name}`)],
    ),
  );
  expect(headers).toEqual({
    ...{ project: project.name, 'project-id': String(project.id) },
    ...{ 'project-path': `${group.full_path}/${project.path}`, 'pipeline-id': String(pipelines) },
    ...{ 'pipeline-iid': String(pipelines - 300), 'pipeline-ref': 'main', 'pipeline-status': 'failed' },
  });
  expect(parsed.headers.get('auto-submitted')).toBe('auto-generated');
});

test.each<[string, string, object, string[]]>([
  ['none', '', {}, ['failed', 'fixed']],
  ['project', 'disabled', {}, []],
  ['project', 'mention', {}, []],
  ['project', 'participating', {}, ['failed', 'fixed']],
  ['project', 'watch', {}, ['failed', 'fixed']],
  ['project', 'custom', {}, ['failed', 'fixed']],
  ['project', 'custom', { success_pipeline: true }, ['failed', 'fixed', 'success']],
  ['project', 'custom', { failed_pipeline: false }, ['fixed']],
  ['project', 'custom', { fixed_pipeline: false, failed_pipeline: true }, ['failed']],
  ['project', 'watch', { success_pipeline: true, failed_pipeline: false }, ['failed', 'fixed']],
  ['namespace', 'disabled', {}, []],
  ['namespace', 'custom', { success_pipeline: true }, ['failed', 'fixed', 'success']],
  ['global', 'disabled', {}, []],
  ['global', 'custom', { success_pipeline: true }, ['failed', 'fixed', 'success']],
])('the setting of the place %s, level %s with %j', async (place, level, switches, expected) => {
  if (place !== 'none') await setLevel(place as 'project', level, switches);
  expect(await sendOneOfEachTemplate()).toEqual(expected);
});

test('the setting of a project goes before those of its groups and the general one', async () => {
  await setLevel('global', 'disabled');
  await setLevel('namespace', 'custom', { failed_pipeline: false });
  await setLevel('project', 'global');
  expect(await sendOneOfEachTemplate()).toEqual(['fixed']);
});

test.each<[PipelineStatus, PipelineStatus | null]>([
  ['canceled', 'failed'],
  ['skipped', null],
])('no e-mail is queued for a pipeline that is %s', async (status, previous) => {
  await setLevel('project', 'custom', { success_pipeline: true });
  await finishPipeline(status, previous);
  expect(await service.database.query('select 1 from pipeline_mails')).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  [
    'a guest of a private project',
    async () => service.seed.member((user = await service.seed.user()), project, 'guest'),
  ],
  ['a user who is blocked', async () => (user = await service.seed.user({ state: 'blocked' }))],
  ['a bot', async () => (user = await service.seed.user({ kind: 'project_bot' }))],
  ['a user without access', async () => (user = await service.seed.user())],
])('no e-mail is queued for %s', async (_, change) => {
  await change();
  await finishPipeline('failed', null);
  expect(await service.database.query('select 1 from pipeline_mails')).toEqual([]);
});

test('no e-mail is queued for a pipeline without a user, nor where e-mails are disabled', async () => {
  await finishPipeline('failed', null, { user_id: null });
  project = await service.seed.project({ namespace_id: group.id, visibility: 'public', emails_enabled: false });
  await finishPipeline('failed', null);
  expect(await service.database.query('select 1 from pipeline_mails')).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  [
    'went to a user who lost access',
    () => service.database.query('delete from directory_memberships where user_id = $1', [user.id]),
  ],
  ['its user turned off', () => setLevel('global', 'disabled')],
  [
    'was about a pipeline that was deleted',
    async () => {
      const data = { pipeline_id: pipelines, project_id: project.id };
      await publish(nats, pipelineDeleted.of({ aggregateId: pipelines, actorId: null, data }));
      await until(
        async () =>
          (await service.database.query('select 1 from ci_pipelines where is_deleted and id = $1', [pipelines]))
            .length === 1,
        'the mark',
      );
    },
  ],
])('an e-mail that %s before it is sent is dropped', async (_, change) => {
  await worker.stop();
  await start(AWAY);
  await publish(nats, pipelineFinishedEvent('failed', null));
  await worker.drained();
  expect(await states('queued')).toHaveLength(1);
  await change();
  await worker.stop();
  await service.database.query(`update pipeline_mails set next_attempt_at = now()`);
  await start();
  await waitUntilMailsAreSent();
  expect(await states('dropped')).toHaveLength(1);
  expect(smtp.mails).toEqual([]);
});

test('hostile names of refs and projects add no header and no markup', async () => {
  project = await service.seed.project({ namespace_id: group.id, name: 'a\r\nBcc: v@evil.example <script>' });
  await service.seed.member(user, project, 'developer');
  await finishPipeline('failed', null, { ref: '<script>x</script>\r\nBcc: v@evil.example' });
  const [{ to, parsed }] = smtp.mails as [MailServer['mails'][0]];
  expect(to).toBe(user.notification_email);
  expect(parsed.headers.has('bcc')).toBe(false);
  expect(parsed.html).not.toContain('<script');
});

test('old e-mails are deleted, queued ones are not', async () => {
  await worker.stop();
  await start({ MAILER_ENABLED: 'off' });
  await service.database.query(
    `insert into pipeline_mails (source_event_id, recipient_id, template, project_id, pipeline_id, pipeline_iid, ref, is_tag,
       sha, state, created_at, next_attempt_at)
     select gen_random_uuid(), 1, 'failed_pipeline', 1, 1, 1, 'main', false, 'a', s, now() - interval '31 days', 'infinity'
     from unnest('{queued,sent,dropped}'::text[]) s`,
  );
  expect(await deleteOldRows(service)).toBe(2);
  expect(await states('queued')).toHaveLength(1);
});
