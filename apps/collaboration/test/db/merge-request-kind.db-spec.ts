import { randomUUID } from 'node:crypto';
import {
  mergeRequestApprovalRequested,
  mergeRequestApproved,
  mergeRequestEvents,
  mergeRequestUnapproved,
  projectDeleted,
} from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { ActivityQueries } from '../../src/following/activity/activity.queries';
import type { NoteableWithParent } from '../../src/base/noteables/planning.policy';
import type { NoteableReference } from '../../src/base/noteables/reader';
import { NewNotesService } from '../../src/talk/notes/new-notes.service';
import { NotesQueries } from '../../src/talk/notes/notes.queries';
import { NotesService } from '../../src/talk/notes/notes.service';
import { writeSystemNotes } from '../../src/talk/notes/system-notes';
import { UserRemovalsConsumer } from '../../src/removal/user-removals.consumer';
import { TodosService } from '../../src/following/todos/todos.service';
import { mergeRequestKind } from '../../src/work/merge-requests/merge-request.kind';
import { UserCountsQueries } from '../../src/following/user-counts/user-counts.queries';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/**
 * Merge requests by their declaration alone: no handler, statement or text of the other wings mentions them. Rows are
 * inserted here, without a repository.
 */
const mergeRequests = mergeRequestKind;
const events = mergeRequestEvents;

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});

interface MadeMergeRequest {
  readonly id: number;
  readonly iid: number;
}
const viewerOf = (user: SeededUser) => service.seed.viewer(user) as never;
const get = <T>(token: abstract new (...args: never[]) => T): T => service.app.get(token);
const runInTransaction = <T>(use: Parameters<Work['run']>[0]): Promise<T> => get(Work).run(use) as Promise<T>;
const queryRows = async <R>(sql: string, ...values: unknown[]): Promise<R[]> => service.database.query<R>(sql, values);
const countOf = async (table: string, where: string, ...values: unknown[]): Promise<number> =>
  (await queryRows<{ n: number }>(`select count(*)::integer as n from ${table} where ${where}`, ...values))[0]!.n;

/** Stands for the wing that will own merge requests. */
async function made(
  author: SeededUser,
  o: { readonly description?: string; readonly assignees?: readonly SeededUser[] } = {},
): Promise<MadeMergeRequest> {
  const ids = (o.assignees ?? []).map((user) => user.id);
  return runInTransaction<MadeMergeRequest>(async (tx) => {
    const [row] = await tx.query<MadeMergeRequest & { created_at: Date }>(
      `insert into merge_requests (project_id, iid, author_id, title, description, source_project_id, source_branch,
         target_branch)
       values ($1, (select count(*) + 1 from merge_requests where project_id = $1), $2, 'A change', $3, $1,
         'feature' || (select count(*) from merge_requests), 'main')
       returning id, iid, created_at`,
      [project.id, author.id, o.description ?? null],
    );
    const { id, iid, created_at } = row!;
    await tx.query(`insert into merge_request_assignees select $1, unnest($2::bigint[]), 1`, [id, ids]);
    tx.emit(
      events.created.of({
        aggregateId: id,
        actorId: author.id,
        data: { merge_request_id: id, merge_request_iid: iid, ...eventFacts(author, created_at), assignee_ids: ids },
      }),
    );
    return { id, iid };
  });
}
function eventFacts(author: SeededUser, at: Date) {
  return { project_id: project.id, author_id: author.id, confidential: false, created_at: at.toISOString() };
}
async function toNoteableReference({ iid }: MadeMergeRequest, user: SeededUser): Promise<NoteableReference> {
  const facts = (await get(Directory).findProjects([project.id])).get(project.id)!;
  const levels = await get(Directory).levelsInProject(project.id, [user.id]);
  const level = levels.get(user.id) ?? 0;
  return { kind: mergeRequests, parent: { ...facts, level }, by: 'iid', named: iid };
}
const pageOne = { page: 1, perPage: 20 };
const newest = { orderBy: 'created_at', sort: 'desc', activity: 'all_notes' } as const;
const notesOf = async (mergeRequest: MadeMergeRequest, user: SeededUser) => {
  const page = await get(NotesQueries).list(
    viewerOf(user),
    await toNoteableReference(mergeRequest, user),
    newest,
    pageOne,
  );
  return { total: page.total, notes: JSON.parse(page.json) as Record<string, unknown>[] };
};
const comment = async (
  mergeRequest: MadeMergeRequest,
  user: SeededUser,
  body: string,
  internal = false,
): Promise<{ id: number }> => {
  const newNote = { body, internal, createdAt: null };
  const named = await toNoteableReference(mergeRequest, user);
  return runInTransaction((tx) => get(NotesService).writeNote(tx, viewerOf(user), named, { as: 'create', newNote }));
};
const todosOf = async (user: SeededUser): Promise<Record<string, unknown>[]> => {
  await worker.drained();
  const page = await get(TodosService).list(viewerOf(user), { state: 'pending' }, pageOne);
  const todos = JSON.parse(page.json) as Record<string, unknown>[];
  expect(page.total).toBe(todos.length);
  return todos;
};
const feedOf = async (user: SeededUser) => {
  await worker.drained();
  const { json: feed } = await get(ActivityQueries).listOwn(viewerOf(user), { sort: 'desc' }, pageOne);
  return JSON.parse(feed) as Record<string, unknown>[];
};

test('it has notes: written, listed, changed, counted and deleted', async () => {
  const mergeRequest = await made(cast.owner);
  const note = await comment(mergeRequest, cast.guest, 'A word');
  await comment(mergeRequest, cast.reporter, 'Between us', true);
  await runInTransaction((tx) =>
    writeSystemNotes(tx, mergeRequests, {
      noteableId: mergeRequest.id,
      projectId: project.id,
      actorId: cast.owner.id,
      bodies: ['closed'],
      at: new Date(),
    }),
  );
  expect((await notesOf(mergeRequest, cast.reporter)).total).toBe(3);
  const seen = await notesOf(mergeRequest, cast.guest);
  expect([seen.total, seen.notes.map((one) => one['body']).sort()]).toEqual([2, ['A word', 'closed']]);
  expect(seen.notes.find((one) => one['id'] === note.id)).toMatchObject({
    noteable_type: 'MergeRequest',
    noteable_id: mergeRequest.id,
    noteable_iid: mergeRequest.iid,
    project_id: project.id,
  });
  const named = await toNoteableReference(mergeRequest, cast.guest);
  const edit = { body: 'Another word', sentConfidential: false };
  expect(JSON.parse(await get(NotesService).update(viewerOf(cast.guest), named, { id: note.id }, edit))).toMatchObject({
    body: 'Another word',
  });
  await get(NotesService).remove(viewerOf(cast.guest), named, { id: note.id }, () => undefined);
  expect((await notesOf(mergeRequest, cast.guest)).total).toBe(1);
  const deleted = await eventsOf(service.database, 'collaboration.note.deleted.v1');
  expect(deleted.at(-1)).toMatchObject({
    note_id: note.id,
    noteable_type: 'MergeRequest',
    noteable_id: mergeRequest.id,
  });
});

test('its notes are for readers of its project feature, with its own messages for refusals', async () => {
  const mergeRequest = await made(cast.owner);
  const shown = await toNoteableReference(mergeRequest, cast.guest);
  const hidden = { ...shown, parent: { ...shown.parent, mergeRequestsAccessLevel: 'disabled' as const } };
  const refused = get(NotesQueries).list(viewerOf(cast.guest), hidden, newest, pageOne);
  await expect(refused).rejects.toEqual(new NotFound());
});

test('an assignment and a mention create to-dos, which a comment marks as done, and counts', async () => {
  const mergeRequest = await made(cast.owner, { description: `@${cast.guest.username}`, assignees: [cast.developer] });
  const [assigned] = await todosOf(cast.developer);
  expect(assigned).toMatchObject({
    action_name: 'assigned',
    target_type: 'MergeRequest',
    target: { id: mergeRequest.id, iid: mergeRequest.iid, title: 'A change' },
    body: 'A change',
    project: { id: project.id },
  });
  expect(assigned!['target_url']).toMatch(new RegExp(`/${project.path}/-/merge_requests/${mergeRequest.iid}$`));
  const note = await comment(mergeRequest, cast.owner, `@${cast.guest.username} and @${cast.external.username}: look`);
  expect((await todosOf(cast.guest)).map((todo) => todo['action_name']).sort()).toEqual([
    'directly_addressed',
    'directly_addressed',
  ]);
  expect((await todosOf(cast.external)).map((todo) => todo['target_url'])).toEqual([
    expect.stringMatching(new RegExp(`/-/merge_requests/${mergeRequest.iid}#note_${note.id}$`)),
  ]);
  const counts = await get(UserCountsQueries).countOpenWork(viewerOf(cast.developer));
  expect(counts).toMatchObject({ assigned_merge_requests: 1, assigned_issues: 0, todos: 1 });
  await comment(mergeRequest, cast.developer, 'Done');
  expect(await todosOf(cast.developer)).toEqual([]);
});

test('commands for its fields are executed, others are text', async () => {
  const mergeRequest = await made(cast.owner);
  const named = (await toNoteableReference(mergeRequest, cast.guest)) as NoteableWithParent;
  const say = (body: string) =>
    get(NewNotesService).create(viewerOf(cast.guest), named, { body, internal: false, createdAt: null });
  expect(await say('/todo')).toEqual({ changes: { todo_event: 'mark' }, summary: 'Added a to-do item.' });
  expect((await todosOf(cast.guest)).map((todo) => todo['action_name'])).toEqual(['marked']);
  const said = (await say('/weight 3\n/done')) as { json: string };
  expect(JSON.parse(said.json)).toMatchObject({ body: '/weight 3', commands_changes: { todo_event: 'done' } });
  expect(await todosOf(cast.guest)).toEqual([]);
});

test('to-dos are deleted with their note, and hidden while its project feature is disabled', async () => {
  const mergeRequest = await made(cast.owner);
  const note = await comment(mergeRequest, cast.owner, `@${cast.guest.username}`);
  expect(await todosOf(cast.guest)).toHaveLength(1);
  await service.seed.put('projects', { ...project, merge_requests_access_level: 'disabled' });
  expect(await todosOf(cast.guest)).toEqual([]);
  await service.seed.put('projects', project);
  await get(NotesService).remove(
    viewerOf(cast.owner),
    await toNoteableReference(mergeRequest, cast.owner),
    { id: note.id },
    () => undefined,
  );
  expect(await todosOf(cast.guest)).toEqual([]);
  expect(await countOf('todos', 'target_id = $1', mergeRequest.id)).toBe(0);
});

test('feeds show it and its notes', async () => {
  const mergeRequest = await made(cast.planner);
  const note = await comment(mergeRequest, cast.planner, 'A word');
  const [commented, opened] = await feedOf(cast.planner);
  expect(opened).toMatchObject({
    action_name: 'opened',
    target_type: 'MergeRequest',
    target_id: mergeRequest.id,
    target_iid: mergeRequest.iid,
    target_title: 'A change',
  });
  expect(commented).toMatchObject({ action_name: 'commented on', target_type: 'Note', target_title: 'A change' });
  expect(commented!['note']).toMatchObject({
    id: note.id,
    noteable_type: 'MergeRequest',
    noteable_iid: mergeRequest.iid,
  });
});

test('participants get e-mails with its wording', async () => {
  await waitUntilMailsAreSent();
  smtp.mails.length = 0;
  const mergeRequest = await made(cast.owner, { assignees: [cast.reporter], description: `@${cast.guest.username}` });
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual([cast.guest.username, cast.reporter.username].sort());
  const first = smtp.mails.find((mail) => mail.to === cast.reporter.notification_email)!;
  expect(first.parsed.subject).toMatch(/\| A change \(!\d+\)$/);
  expect(first.parsed.text).toContain(`created merge request !${mergeRequest.iid}: A change`);
  expect(first.parsed.text).toContain(`/-/merge_requests/${mergeRequest.iid}`);
  expect(first.parsed.messageId).toMatch(new RegExp(`^<merge_request_${mergeRequest.id}@`));
  expect(first.parsed.headers.get('x-platform-mergerequest-iid')).toBe(String(mergeRequest.iid));
  expect(first.parsed.headers.get('x-platform-notificationreason')).toBe('assigned');
  smtp.mails.length = 0;
  await comment(mergeRequest, cast.guest, 'A word');
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual([cast.owner.username, cast.reporter.username].sort());
  expect(smtp.mails[0]!.parsed.text).toContain(`commented on merge request !${mergeRequest.iid}`);
  expect(smtp.mails[0]!.parsed.inReplyTo).toMatch(new RegExp(`^<merge_request_${mergeRequest.id}@`));
});

test('approvers who turned the switch on get a to-do of a new merge request', async () => {
  const group = await service.seed.group({ plan: 'premium' });
  project = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
  cast = await castOf(service.seed, project);
  const { owner, developer, reporter, guest, stranger } = cast;
  const [rule] = await queryRows<{ id: number }>(
    `insert into approval_rules (project_id, name, rule_type, approvals_required) values ($1, 'Reviewers', 'regular', 1)
     returning id`,
    project.id,
  );
  const named = [owner, developer, reporter, guest, stranger].map((user) => user.id);
  await queryRows('insert into approval_rule_users select $1, unnest($2::bigint[])', rule!.id, named);
  const choose = async (user: SeededUser, type: string, sourceId: number, level: string, isOn: boolean) =>
    queryRows(
      `insert into notification_settings (user_id, source_type, source_id, level, switches)
       values ($1, $2, $3, $4, jsonb_build_object('approver', $5::boolean))`,
      ...[user.id, type, sourceId, level, isOn],
    );
  await choose(owner, 'global', 0, 'custom', true); // The author gets none.
  await choose(developer, 'global', 0, 'custom', true);
  await choose(reporter, 'namespace', group.id, 'custom', true);
  await choose(reporter, 'project', project.id, 'watch', true); // The nearest setting wins.
  await choose(guest, 'global', 0, 'custom', false);
  await choose(stranger, 'global', 0, 'custom', true); // Cannot read the project.
  await made(owner);
  for (const user of [owner, reporter, guest, stranger]) expect(await todosOf(user)).toEqual([]);
  expect(await todosOf(developer)).toEqual([
    expect.objectContaining({ action_name: 'added_approver', target_type: 'MergeRequest' }),
  ]);
  await queryRows(`update directory_namespaces set plan = 'free' where id = $1`, group.id);
  await made(owner);
  expect(await todosOf(developer)).toHaveLength(1);
});

test('an approval is in the feed, sends e-mails and settles to-dos; its withdrawal sends e-mails', async () => {
  const mergeRequest = await made(cast.owner, { assignees: [cast.developer] });
  const facts = {
    ...{ merge_request_id: mergeRequest.id, merge_request_iid: mergeRequest.iid, project_id: project.id },
    ...{ author_id: cast.owner.id, confidential: false, created_at: new Date().toISOString() },
  };
  const about = { aggregateId: mergeRequest.id, actorId: cast.developer.id };
  const later = new Date(Date.now() + 1000).toISOString();
  await worker.drained();
  const named = { ...facts, approver_ids: [cast.reporter.id], requested_at: facts.created_at };
  await runInTransaction((tx) => Promise.resolve(tx.emit(mergeRequestApprovalRequested.of({ ...about, data: named }))));
  expect(await todosOf(cast.reporter)).toEqual([
    expect.objectContaining({ action_name: 'approval_required', target_type: 'MergeRequest' }),
  ]);
  expect(await todosOf(cast.developer)).toHaveLength(1);
  await runInTransaction((tx) =>
    Promise.resolve(tx.emit(mergeRequestApproved.of({ ...about, data: { ...facts, approved_at: later } }))),
  );
  expect(await todosOf(cast.developer)).toEqual([]);
  expect(await todosOf(cast.reporter)).toHaveLength(1);
  const [entry] = await feedOf(cast.developer);
  expect(entry).toMatchObject({ action_name: 'approved', target_type: 'MergeRequest', target_id: mergeRequest.id });
  await runInTransaction((tx) =>
    Promise.resolve(tx.emit(mergeRequestUnapproved.of({ ...about, data: { ...facts, unapproved_at: later } }))),
  );
  await waitUntilMailsAreSent();
  expect((await feedOf(cast.developer)).filter((one) => one['action_name'] === 'approved')).toHaveLength(1);
  const toOwner = smtp.mails.filter((mail) => mail.to === cast.owner.notification_email);
  const texts = toOwner.map((mail) => mail.parsed.text ?? '');
  for (const words of ['approved merge request !', 'withdrew the approval of merge request !'])
    expect(texts.filter((text) => text.includes(words))).toHaveLength(1);
});

test('authored content is transferred when a user is removed', async () => {
  const ghost = await service.seed.user({ kind: 'ghost' });
  const mergeRequest = await made(cast.developer, { assignees: [cast.developer] });
  await comment(mergeRequest, cast.developer, 'A word');
  await worker.drained();
  await remove(cast.developer, ghost);
  expect(await queryRows('select author_id from merge_requests where id = $1', mergeRequest.id)).toEqual([
    { author_id: ghost.id },
  ]);
  expect((await notesOf(mergeRequest, cast.owner)).notes[0]).toMatchObject({ author: { id: ghost.id } });
  expect(await countOf('merge_request_assignees', 'user_id = $1', cast.developer.id)).toBe(0);
});

test('authored content is deleted with a user, with all references to it', async () => {
  const mergeRequest = await made(cast.developer, { description: `@${cast.guest.username}` });
  await comment(mergeRequest, cast.owner, `@${cast.reporter.username}`);
  const stays = await made(cast.owner);
  await comment(stays, cast.developer, 'A word');
  expect(await todosOf(cast.guest)).toHaveLength(1);
  await waitUntilMailsAreSent();
  await remove(cast.developer, null);
  await worker.drained();
  expect(await countOf('merge_requests', 'id = $1', mergeRequest.id)).toBe(0);
  expect(await countLeftRows(mergeRequest)).toEqual({ notes: 0, todos: 0, activity_events: 0, participants: 0 });
  expect(await queryRows('select public_notes_count as n from merge_requests where id = $1', stays.id)).toEqual([
    { n: 0 },
  ]);
  const deleted = await eventsOf(service.database, 'collaboration.merge_request.deleted.v1');
  expect(deleted.at(-1)).toEqual({
    merge_request_id: mergeRequest.id,
    merge_request_iid: mergeRequest.iid,
    project_id: project.id,
    state: 'opened',
  });
});

test('it is deleted with its project, with all references to it', async () => {
  const mergeRequest = await made(cast.owner, { description: `@${cast.guest.username}` });
  await comment(mergeRequest, cast.guest, `@${cast.reporter.username}`);
  expect(await todosOf(cast.reporter)).toHaveLength(1);
  await service.database.query('delete from directory_projects where id = $1', [project.id]);
  const data = { project_id: project.id };
  await publish(nats, projectDeleted.of({ aggregateId: project.id, actorId: 1, data }));
  await until(async () => (await countOf('merge_requests', 'id = $1', mergeRequest.id)) === 0, 'the removal');
  await worker.drained();
  expect(await countLeftRows(mergeRequest)).toEqual({ notes: 0, todos: 0, activity_events: 0, participants: 0 });
});

async function countLeftRows({ id }: MadeMergeRequest): Promise<Record<string, number>> {
  return {
    notes: await countOf('notes', `noteable_type = 'MergeRequest' and noteable_id = $1`, id),
    todos: await countOf('todos', `target_type = 'MergeRequest' and target_id = $1`, id),
    activity_events: await countOf('activity_events', `noteable_type = 'MergeRequest' and noteable_id = $1`, id),
    participants: await countOf('participants', `noteable_type = 'MergeRequest' and noteable_id = $1`, id),
  };
}

async function waitUntilMailsAreSent(): Promise<void> {
  await worker.drained();
  await until(async () => (await countOf('mails', `state = 'queued'`)) === 0, 'an empty queue');
}

async function remove(person: SeededUser, heir: SeededUser | null): Promise<void> {
  await service.database.query('delete from directory_users where id = $1', [person.id]);
  const data = { user_id: person.id, ghost_user_id: heir?.id ?? null, hard_delete: heir === null };
  const about = { aggregateType: 'user', aggregateId: person.id, actorId: 1, data };
  const event = { id: randomUUID(), time: new Date().toISOString(), ...about };
  await runInTransaction((tx) => get(UserRemovalsConsumer).userDeleted({ tx, events: [event] }));
  // The worker runs the job; after its first round only late rows may be left.
  const left = 'select 1 as n from user_departures where user_id = $1 and round = 1';
  await until(async () => (await queryRows(left, person.id)).length === 0, 'the first round of the departure');
}
