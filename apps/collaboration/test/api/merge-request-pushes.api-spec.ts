import { join } from 'node:path';
import { NO_OBJECT } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { gitIn } from '../support/files-repository';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

interface ShownMergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly sha: string;
  readonly updated_at: string;
  readonly [field: string]: unknown;
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let path: string;
let opened = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});
beforeEach(async () => {
  place = await scene.place();
  ({ cast, path } = place);
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
async function open(titles?: readonly string[]): Promise<{ iid: number; source: string; commits: string[] }> {
  const source = `source-${++opened}`;
  const commits = await scene.branch(place, source, titles);
  const sent = { title: 'A change', source_branch: source, target_branch: 'main' };
  const { body } = await as('developer').post(path).send(sent).expect(201);
  return { iid: (body as ShownMergeRequest).iid, source, commits };
}
const shown = async (iid: number): Promise<ShownMergeRequest> =>
  (await as('developer').get(`${path}/${iid}`)).body as ShownMergeRequest;
const notesOf = async (iid: number): Promise<string[]> => {
  const query = { sort: 'asc', activity_filter: 'only_activity' };
  const { body } = await as('owner').get(`${path}/${iid}/notes`).query(query);
  return (body as { body: string }[]).map((note) => note.body);
};
const versionsOf = async (iid: number): Promise<{ id: number; head: string; base: string; start: string }[]> =>
  service.database.query(
    `select v.id, v.head_sha as head, v.base_sha as base, v.start_sha as start from merge_request_versions v
     join merge_requests i on i.id = v.merge_request_id where i.project_id = $1 and i.iid = $2
     order by v.created_at, v.id`,
    [place.project.id, iid],
  );

test('a push to the source brings a version, a note and a new head', async () => {
  const { iid, source, commits } = await open();
  const before = await shown(iid);
  const added = await scene.push(place, source, ['Second <b>', 'Third']);
  const after = await shown(iid);
  expect(after).toMatchObject({
    sha: added[1],
    changes_count: '3',
    merge_status: 'can_be_merged',
    diff_refs: { base_sha: place.mainSha, head_sha: added[1], start_sha: place.mainSha },
  });
  expect(after.updated_at > before.updated_at).toBe(true);
  const versions = await versionsOf(iid);
  expect(versions.map(({ head }) => head)).toEqual([commits[0], added[1]]);
  const web = `/${place.fullPath}/-/merge_requests/${iid}`;
  const lines = [`${added[0]!.slice(0, 8)} - Second &lt;b&gt;`, `${added[1]!.slice(0, 8)} - Third`];
  expect(await notesOf(iid)).toEqual([
    `added 2 commits\n\n<ul><li>${lines.join('</li><li>')}</li></ul>\n\n` +
      `[Compare with previous version](${web}/diffs?diff_id=${versions[1]!.id}&start_sha=${commits[0]})`,
  ]);
  expect(await scene.ref(place, `refs/merge-requests/${iid}/head`)).toBe(added[1]);
});

test('a forced push counts the new commits, and keeps the old ones', async () => {
  const { iid, source, commits } = await open(['One', 'Two']);
  await scene.git.ok(place.folder, 'reset', '--quiet', '--hard', 'origin/main');
  const [forced] = await scene.push(place, source, ['Other']);
  expect((await shown(iid)).sha).toBe(forced);
  expect((await notesOf(iid)).at(-1)).toContain('added 1 commit\n');
  const repository = await service.app.get(ProjectRepositories).findRepository(place.project.id);
  const kept = await repository!.run({ args: ['rev-parse', '--verify', `refs/keep-around/${commits[1]}`] });
  expect(kept.stdout.toString().trim()).toBe(commits[1]);
});

test('commits of the target that the source merges are one line', async () => {
  const { iid, source, commits } = await open();
  const onMain = await scene.push(place, 'main', ['Main one', 'Main two']);
  await scene.git.ok(place.folder, 'checkout', '--quiet', source);
  await scene.git.ok(place.folder, 'merge', '--quiet', '-m', 'Merge main', 'main');
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', source);
  const [note] = await notesOf(iid);
  const range = `${place.mainSha.slice(0, 8)}...${onMain[1]!.slice(0, 8)}`;
  expect(note).toContain(`added 3 commits\n\n<ul><li>${range} - 2 commits from branch <code>main</code></li>`);
  expect(await shown(iid)).toMatchObject({ diff_refs: { base_sha: onMain[1], start_sha: onMain[1] } });
  expect((await versionsOf(iid)).map(({ base }) => base)).toEqual([place.mainSha, onMain[1]]);
  expect(commits).toHaveLength(1);
});

test('a push counts while the target branch is missing', async () => {
  await scene.branch(place, 'target', ['Of the target']);
  const source = `source-${++opened}`;
  const commits = await scene.branch(place, source);
  const sent = { title: 'Draft: a change', source_branch: source, target_branch: 'target' };
  const { iid } = (await as('developer').post(path).send(sent).expect(201)).body as ShownMergeRequest;
  const settings = `/api/v4/projects/${place.project.id}/approvals`;
  await as('maintainer').post(settings).send({ reset_approvals_on_push: true }).expect(201);
  await as('maintainer').post(`${path}/${iid}/approve`).expect(201);
  await as('developer').put(`${path}/${iid}/merge`).send({ auto_merge: true }).expect(200);
  const start = (await versionsOf(iid))[0]!.start;
  await scene.drop(place, 'target');
  const added = await scene.push(place, source, ['Unseen']);
  expect(await shown(iid)).toMatchObject({
    sha: added[0],
    state: 'opened',
    merge_when_pipeline_succeeds: false,
    diff_refs: { head_sha: added[0], start_sha: start },
  });
  expect((await versionsOf(iid)).map(({ head }) => head)).toEqual([commits[0], added[0]]);
  const notes = await notesOf(iid);
  expect(notes.at(-2)).toContain('added 1 commit\n');
  expect(notes.at(-1)).toBe('aborted the automatic merge because source branch was updated');
  const { body } = await as('developer').get(`${path}/${iid}/approvals`).expect(200);
  expect((body as { approved_by: unknown[] }).approved_by).toEqual([]);
});

test('a deleted source branch closes', async () => {
  const { iid, source } = await open();
  await scene.drop(place, source);
  expect(await shown(iid)).toMatchObject({ state: 'closed', closed_by: { id: cast.maintainer.id } });
  expect(await notesOf(iid)).toEqual([`deleted source branch \`${source}\``, 'closed']);
  expect((await eventsOf(service.database, 'collaboration.merge_request.closed.v1')).at(-1)).toMatchObject({
    merge_request_iid: iid,
    project_id: place.project.id,
  });
});

test('a push of the head into the target merges; other requests are checked again without a change', async () => {
  const { iid, source, commits } = await open();
  const other = await open(['Else']);
  const before = await shown(other.iid);
  await scene.git.ok(place.folder, 'checkout', '--quiet', 'main');
  await scene.git.ok(place.folder, 'merge', '--quiet', '--no-ff', '-m', 'By hand', source);
  const merge = (await scene.git.ok(place.folder, 'rev-parse', 'HEAD')).trim();
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', 'main');
  expect(await shown(iid)).toMatchObject({
    state: 'merged',
    merged_by: { id: cast.maintainer.id },
    merge_user: { id: cast.maintainer.id },
    merged_at: expect.any(String),
    merge_commit_sha: merge,
    sha: commits[0],
    detailed_merge_status: 'not_open',
  });
  expect(await notesOf(iid)).toEqual(['merged manually']);
  const states = await as('developer').get(`${path}/${iid}/resource_state_events`);
  expect(states.body).toMatchObject([{ state: 'merged', user: { id: cast.maintainer.id } }]);
  const listed = await as('developer')
    .get(path)
    .query({ 'iids[]': [other.iid] });
  expect(listed.body).toMatchObject([{ merge_status: 'unchecked', detailed_merge_status: 'unchecked' }]);
  expect(await shown(other.iid)).toMatchObject({ merge_status: 'can_be_merged', updated_at: before.updated_at });
  expect(await versionsOf(other.iid)).toHaveLength(1);
  expect((await eventsOf(service.database, 'collaboration.merge_request.merged.v1')).at(-1)).toMatchObject({
    merge_request_iid: iid,
    merged_at: expect.any(String),
  });
});

test('a conflict that a push to the target brings, and one that it takes away, are seen', async () => {
  const source = `source-${++opened}`;
  await scene.branch(place, source);
  await scene.push(place, source, ['Mine'], 'shared');
  const sent = { title: 'A change', source_branch: source, target_branch: 'main' };
  const { iid } = (await as('developer').post(path).send(sent).expect(201)).body as ShownMergeRequest;
  await scene.push(place, 'main', ['Theirs'], 'shared');
  expect(await shown(iid)).toMatchObject({ merge_status: 'cannot_be_merged', detailed_merge_status: 'conflict' });
  await scene.push(place, 'main', ['Mine'], 'shared');
  const listed = await as('developer').get(path);
  expect(listed.body).toMatchObject([{ merge_status: 'cannot_be_merged_recheck' }]);
  expect(await shown(iid)).toMatchObject({ merge_status: 'can_be_merged', has_conflicts: false });
});

test('a push of some of its commits to the target moves the merge base; a forced push does too', async () => {
  const { iid, commits } = await open(['One', 'Two']);
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', `${commits[0]}:main`);
  expect(await shown(iid)).toMatchObject({
    state: 'opened',
    changes_count: '1',
    diff_refs: { base_sha: commits[0], start_sha: commits[0] },
  });
  await scene.git.ok(place.folder, 'push', '--quiet', '--force', 'origin', `${place.mainSha}:main`);
  expect(await shown(iid)).toMatchObject({ changes_count: '2', diff_refs: { base_sha: place.mainSha } });
  expect(await versionsOf(iid)).toHaveLength(3);
});

test('closed requests that were to be merged take no place of an open one in a push, and keep no old attempt', async () => {
  const { iid, commits } = await open(['One', 'Two']);
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', `${commits[0]}:main`);
  const [row] = await service.database.query<{ row: object }>(
    `select to_jsonb(i) || '{"state": "closed", "merge_intent": {"tip": "x"}}' as row from merge_requests i
     where project_id = $1 and iid = $2`,
    [place.project.id, iid],
  );
  await service.database.query(
    `insert into merge_requests select (jsonb_populate_record(null::merge_requests, $1::jsonb || jsonb_build_object(
       'id', 9000000 + n, 'iid', 1000 + n, 'closed_at', now() - n * interval '1 hour'))).*
     from generate_series(1, 50) n`,
    [JSON.stringify(row!.row)],
  );
  await scene.git.ok(place.folder, 'push', '--quiet', '--force', 'origin', `${place.mainSha}:main`);
  expect(await shown(iid)).toMatchObject({ changes_count: '2', diff_refs: { base_sha: place.mainSha } });
  const [left] = await service.database.query(
    'select count(*)::int as attempts from merge_requests where project_id = $1 and merge_intent is not null',
    [place.project.id],
  );
  expect(left).toEqual({ attempts: 23 });
});

test('ten pushes in a row: the last state is right, and no version is lost', async () => {
  const { iid, source, commits } = await open();
  const heads: string[] = [];
  for (let number = 0; number < 10; number++) heads.push(...(await scene.push(place, source, [`Push ${number}`])));
  expect(await shown(iid)).toMatchObject({
    ...{ sha: heads.at(-1), changes_count: '11', detailed_merge_status: 'mergeable' },
    diff_refs: { base_sha: place.mainSha, head_sha: heads.at(-1) },
  });
  expect((await versionsOf(iid)).map(({ head }) => head)).toEqual([...commits, ...heads]);
  expect((await notesOf(iid)).map((note) => note.split('\n', 1)[0])).toEqual(heads.map(() => 'added 1 commit'));
});

test('ten commits at once: each that is accepted has its version, in the order of the history', async () => {
  const { iid, source, commits } = await open();
  const commit = (number: number) =>
    as('developer')
      .post(`/api/v4/projects/${place.project.id}/repository/commits`)
      .send({
        ...{ branch: source, commit_message: `Push ${number}` },
        actions: [{ action: 'create', file_path: `push-${number}`, content: 'x' }],
      });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, number) => commit(number)));
  const accepted = answers.filter(({ status }) => status === 201).map(({ body }) => (body as { id: string }).id);
  expect(accepted.length).toBeGreaterThan(0);
  await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin');
  const range = [`${commits[0]}..origin/${source}`, '--reverse'];
  const history = (await scene.git.ok(place.folder, 'rev-list', ...range)).trim().split('\n');
  expect([...history].sort()).toEqual([...accepted].sort());
  expect(await shown(iid)).toMatchObject({ sha: history.at(-1), changes_count: `${history.length + 1}` });
  expect((await versionsOf(iid)).map(({ head }) => head)).toEqual([...commits, ...history]);
});

test('ten clients that push at once, each until it is accepted: the last state is right, and no version is lost', async () => {
  const { iid, source, commits } = await open();
  const { folder } = place;
  await scene.git.ok(folder, 'checkout', '--quiet', source);
  const heads: string[] = [];
  for (let number = 0; number < 10; number++)
    heads.push(await scene.git.commit(folder, `Push ${number}`, `push-${number}`));
  const url = scene.urlFor(place.fullPath, cast.maintainer);
  const push = async (head: string): Promise<void> => {
    // git refuses a push if another one moves or locks the branch meanwhile.
    for (let attempt = 0; attempt < 50; attempt++)
      if ((await scene.git.run(folder, 'push', '--quiet', '--force', url, `${head}:refs/heads/${source}`)).code === 0)
        return;
    throw new Error(`${head} is never accepted`);
  };
  await Promise.all(heads.map(push));
  const last = await scene.ref(place, `refs/heads/${source}`);
  expect(await shown(iid)).toMatchObject({ sha: last, changes_count: `${heads.indexOf(last) + 2}` });
  const versions = (await versionsOf(iid)).map(({ head }) => head);
  expect([...versions].sort()).toEqual([...commits, ...heads].sort());
  expect([versions[0], versions.at(-1)]).toEqual([commits[0], last]);
});

test('a push of 1,000 commits: one version, note and event; threads on lines that it changed are outdated', async () => {
  const { iid, source } = await open(['Kept', 'Changed']);
  const refs = (await shown(iid))['diff_refs'] as Record<string, string>;
  const start = async (file: string): Promise<number> => {
    const position = { ...refs, position_type: 'text', new_path: `${source}-${file}`, new_line: 1 };
    const { body } = await as('guest').post(`${path}/${iid}/discussions`).send({ body: 'Why?', position }).expect(201);
    return (body as { notes: { id: number }[] }).notes[0]!.id;
  };
  const [kept, changed] = [await start('Kept'), await start('Changed')];
  const clone = { directory: join(scene.git.folder, place.folder) };
  const parts = Array.from({ length: 1000 }, (_, number) => {
    const from = number === 0 ? `from refs/heads/${source}^0\n` : '';
    const file = `M 100644 inline ${source}-Changed\ndata 5\n${String(number).padStart(4)}\n`;
    return `commit refs/heads/${source}\ncommitter Wren <wren@example.org> ${1_700_000_000 + number} +0000\ndata 1\nx\n${from}${file}`;
  });
  gitIn(clone, ['fast-import', '--quiet', '--force'], parts.join(''));
  const head = gitIn(clone, ['rev-parse', source]).trim();
  const pushes = async () =>
    (await eventsOf(service.database, 'collaboration.push.completed.v1')).filter(
      (event) => (event as { project_id: number }).project_id === place.project.id,
    ).length;
  const before = await pushes();
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', source);
  expect(await shown(iid)).toMatchObject({
    ...{ sha: head, changes_count: '2', detailed_merge_status: 'mergeable' },
    diff_refs: { base_sha: place.mainSha, head_sha: head, start_sha: place.mainSha },
  });
  expect((await versionsOf(iid)).map((version) => version.head)).toEqual([refs['head_sha'], head]);
  const [note] = await notesOf(iid);
  expect(note).toContain('added 1000 commits\n');
  expect(note!.match(/<li>/g)).toHaveLength(100);
  const listed = await as('guest').get(`${path}/${iid}/commits`).query({ per_page: 1 }).expect(200);
  expect(listed.headers['x-total']).toBe('1002');
  const diffs = await as('guest').get(`${path}/${iid}/diffs`).expect(200);
  expect((diffs.body as { diff: string }[]).map(({ diff }) => diff)).toContain('@@ -0,0 +1 @@\n+ 999\n');
  const active = 'select thread_id from note_positions where thread_id = any($1) and is_active';
  expect(await service.database.query(active, [[kept, changed]])).toEqual([{ thread_id: kept }]);
  expect((await pushes()) - before).toBe(1);
});

describe('a settlement that comes late', () => {
  /** Moves a branch as a push would, without its settlement. Returns the number of the push. */
  async function moved(source: string, oldId: string, newId: string): Promise<number> {
    const repository = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
    const ref = `refs/heads/${source}`;
    const push = { projectId: place.project.id, userId: cast.developer.id, source: 'git' } as const;
    const update = { ref, oldId: oldId as ObjectId, newId: newId as ObjectId };
    const id = await service.app.get(RefIntents).recordUpdates(push, [update]);
    await repository.run({ args: newId === NO_OBJECT ? ['update-ref', '-d', ref] : ['update-ref', ref, newId] });
    return id;
  }
  async function settle(...pushes: number[]): Promise<void> {
    const repository = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
    for (const id of pushes) await service.app.get(PushSettlement).settlePush(repository, id, null);
  }

  test('is done by the job as the push would have, once', async () => {
    const { iid, source, commits } = await open(['One', 'Two']);
    const id = await moved(source, commits[1]!, commits[0]!);
    expect((await shown(iid)).sha).toBe(commits[1]);
    await settle(id, id);
    expect((await shown(iid)).sha).toBe(commits[0]);
    expect(await versionsOf(iid)).toHaveLength(2);
  });

  test('after the one of a later push keeps the later head, and records its version in its place', async () => {
    const { iid, source, commits } = await open(['One', 'Two', 'Three']);
    const first = await moved(source, commits[2]!, commits[0]!);
    const second = await moved(source, commits[0]!, commits[1]!);
    await settle(second, first);
    expect((await shown(iid)).sha).toBe(commits[1]);
    expect((await versionsOf(iid)).map(({ head }) => head)).toEqual([commits[2], commits[0], commits[1]]);
  });

  test('of a deleted branch that exists again does not close', async () => {
    const { iid, source, commits } = await open(['One', 'Two']);
    const first = await moved(source, commits[1]!, NO_OBJECT);
    const second = await moved(source, NO_OBJECT, commits[0]!);
    await settle(second, first);
    expect(await shown(iid)).toMatchObject({ state: 'opened', sha: commits[0] });
  });

  test('of a push to the target adds no version to a request that was rebased onto a later push', async () => {
    const { iid, source, commits } = await open();
    const { folder } = place;
    await scene.git.ok(folder, 'checkout', '--quiet', '-B', 'next-main', 'origin/main');
    const onMain = [
      await scene.git.commit(folder, 'Main one', 'one.txt'),
      await scene.git.commit(folder, 'Main two', 'two.txt'),
    ];
    await scene.git.ok(folder, 'checkout', '--quiet', '-B', 'rebased', source);
    await scene.git.ok(folder, 'rebase', '--quiet', 'next-main');
    await scene.git.ok(folder, 'push', '--quiet', 'origin', 'next-main', 'rebased');
    const head = await scene.ref(place, 'refs/heads/rebased');
    const first = await moved('main', place.mainSha, onMain[0]!);
    const second = await moved('main', onMain[0]!, onMain[1]!);
    const rebased = await moved(source, commits[0]!, head);
    await settle(second, rebased, first);
    expect(await shown(iid)).toMatchObject({ sha: head, diff_refs: { base_sha: onMain[1], start_sha: onMain[1] } });
    expect((await versionsOf(iid)).map((version) => version.head)).toEqual([commits[0], head]);
  });
});
