import { context, propagation, trace } from '@opentelemetry/api';
import { core, node, tracing } from '@opentelemetry/sdk-node';
import { accessTokenRotated, issueClosed, memberAdded, pipelineFinished } from '@rookery/contracts';
import type { DirectoryProject, DomainEvent } from '@rookery/contracts';
import { publishEvent, startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { connect } from 'nats';
import type { NatsConnection } from 'nats';
import { AccountFacts } from '../support/account-facts';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

const SHARED_ID = '0af7651916cd43dd8448eb211c80319c';
const REQUEST = `00-${SHARED_ID}-b7ad6b7169203331-01`;
const AT = new Date().toISOString();

const exporter = new tracing.InMemorySpanExporter();
let service: SeededService;
let nats: PrivateNats;
let bus: NatsConnection;
let smtp: MailServer;
let identity: AccountFacts;
let worker: Worker;
let project: DirectoryProject;
let actor: SeededUser;
let user: SeededUser;

beforeAll(async () => {
  new node.NodeTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] }).register({
    propagator: new core.W3CTraceContextPropagator(),
  });
  service = await startCollaboration();
  nats = await startNats();
  bus = await connect({ servers: nats.url });
  smtp = await startMailServer();
  identity = new AccountFacts();
  await identity.listen();
  const env = { SMTP_URL: smtp.url, IDENTITY_URL: identity.url, MAILER_POLL_MS: '20' };
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env });
  project = await service.seed.project();
  actor = await service.seed.user();
  user = await service.seed.user();
  await service.seed.member(user, project, 'developer');
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await identity.close();
  await bus.close();
  await nats.drop();
  await service.close();
  trace.disable();
  propagation.disable();
  context.disable();
});
beforeEach(() => exporter.reset());

/** One event for each queue of e-mails, with one recipient. */
const EVENTS: Readonly<Record<string, () => Promise<DomainEvent>>> = {
  mails: async () => {
    const [issue] = await service.database.query<{ id: number }>(
      `insert into issues (project_id, iid, author_id, title)
       select $1, count(*) + 1, $2, 'Title' from issues returning id`,
      [project.id, user.id],
    );
    const { id } = issue!;
    const facts = { project_id: project.id, author_id: user.id, confidential: false, created_at: AT };
    const data = { issue_id: id, issue_iid: 1, ...facts, closed_at: AT };
    return issueClosed.of({ aggregateId: id, actorId: actor.id, data });
  },
  account_mails: () => {
    identity.answer = () => ({
      ...{ address: 'ann@mail.example', name: 'Ann', link: null },
      token: { name: 'deploy', expires_on: '2999-01-01' },
    });
    const data = { token_id: 9, previous_token_id: 8, user_id: user.id, recipient_ids: [user.id] };
    const about = { days_left: 7, expires_on: '2999-01-01', rotated_at: AT };
    return Promise.resolve(accessTokenRotated.of({ aggregateId: 9, actorId: 1, data: { ...data, ...about } }));
  },
  pipeline_mails: () => {
    const data = {
      ...{ pipeline_id: 300, project_id: project.id, iid: 1, sha: '0123456789'.repeat(4), ref: 'main', is_tag: false },
      ...{ source: 'external', status: 'failed' as const, previous_status: null, user_id: user.id, finished_at: AT },
    };
    return Promise.resolve(pipelineFinished.of({ aggregateId: 300, actorId: null, data }));
  },
  place_mails: () => {
    const data = { user_id: user.id, source_type: 'project', source_id: project.id } as const;
    const more = { access_level: 30, added_at: AT };
    return Promise.resolve(memberAdded.of({ aggregateId: 1, actorId: actor.id, data: { ...data, ...more } }));
  },
};
const listSentTraceparents = async (queue: string): Promise<(string | null)[]> => {
  const rows = await service.database.query<{ traceparent: string | null }>(
    `select traceparent from ${queue} where state = 'sent' order by id`,
  );
  return rows.map((row) => row.traceparent);
};

describe.each(Object.keys(EVENTS))('the queue %s', (queue) => {
  test('leads from the request of the event to the mail server, in one trace', async () => {
    await service.database.query(`delete from ${queue}`);
    await publishEvent(bus, await EVENTS[queue]!(), { traceparent: REQUEST });
    await until(async () => (await listSentTraceparents(queue)).length === 1, 'a sent e-mail');
    const [traceparent] = await listSentTraceparents(queue);
    await worker.drained();
    const spans = exporter.getFinishedSpans();
    const send = spans.find(({ name }) => name === 'send e-mail')!;
    expect(send.spanContext().traceId).toBe(SHARED_ID);
    expect(traceparent).toBe(`00-${SHARED_ID}-${send.parentSpanContext!.spanId}-01`);
    const queued = spans.find((span) => span.spanContext().spanId === traceparent!.split('-')[2]);
    expect(queued!.name).toMatch(/^effect queue-/);
    expect(send.attributes).toEqual({ 'rookery.mail.outcome': 'accepted' });
  });

  test('has no spans for events of requests without one', async () => {
    await service.database.query(`delete from ${queue}`);
    await publishEvent(bus, await EVENTS[queue]!());
    await until(async () => (await listSentTraceparents(queue)).length === 1, 'a sent e-mail');
    expect(await listSentTraceparents(queue)).toEqual([null]);
    await worker.drained();
    expect(exporter.getFinishedSpans().map(({ name }) => name)).not.toContain('send e-mail');
  });
});
