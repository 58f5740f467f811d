import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import type { ShownMergeRequest } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

let service: SeededService;
let scene: MergeRequestScene;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const REFUSED = { message: 'Branch cannot be merged' };

describe('merge method', () => {
  test('a fast-forward moves the target to the source', async () => {
    const here = await MergeActions.in(service, scene, { merge_method: 'ff' });
    const { iid, commits } = await here.open({}, ['One', 'Two']);
    const { body } = await here.merge(iid, { merge_commit_message: 'Ignored' }).expect(200);
    expect(body).toMatchObject({ state: 'merged', sha: commits[1], merge_commit_sha: null, squash_commit_sha: null });
    expect(await here.tip('main')).toBe(commits[1]);
    expect(await here.notes(iid)).toEqual(['merged']);
  });

  test('a fast-forward of a squash is one commit on top of the target', async () => {
    const here = await MergeActions.in(service, scene, { merge_method: 'ff' });
    const { iid } = await here.open({ squash: true }, ['One', 'Two']);
    const { body } = await here.merge(iid).expect(200);
    const { squash_commit_sha: squashed } = body as ShownMergeRequest;
    expect(body).toMatchObject({ state: 'merged', merge_commit_sha: null });
    expect(await here.tip('main')).toBe(squashed);
    expect(await here.commit(squashed)).toEqual({ parents: [here.place.mainSha], message: 'A change' });
    expect(await here.notes(iid)).toEqual(['merged']);
  });

  test.each(['ff', 'rebase_merge'] as const)('%s needs a source that contains the target', async (method) => {
    const here = await MergeActions.in(service, scene, { merge_method: method });
    const { iid } = await here.open();
    expect(await here.shown(iid)).toMatchObject({ detailed_merge_status: 'mergeable' });
    await here.pushMain('Other');
    expect(await here.shown(iid)).toMatchObject({
      merge_status: 'can_be_merged',
      detailed_merge_status: 'need_rebase',
    });
    expect((await here.merge(iid, { sha: 'x' }).expect(422)).body).toEqual(REFUSED);
    await here
      .as('developer')
      .put(`${here.path(iid)}/rebase`)
      .expect(202);
    const rebased = await here.shown(iid);
    expect(rebased).toMatchObject({ detailed_merge_status: 'mergeable' });
    const { body } = await here.merge(iid).expect(200);
    const { merge_commit_sha: merged } = body as ShownMergeRequest;
    expect(await here.tip('main')).toBe(method === 'ff' ? rebased.sha : merged);
    expect(merged === null).toBe(method === 'ff');
  });

  test('a merge commit needs no rebase', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid } = await here.open();
    await here.pushMain('Other');
    expect(await here.shown(iid)).toMatchObject({ detailed_merge_status: 'mergeable' });
    await here.merge(iid).expect(200);
  });
});

describe('squash option', () => {
  test.each([
    ['default_off', undefined, false, false],
    ['default_on', undefined, true, true],
    ['default_on', false, false, false],
    ['always', undefined, true, true],
    ['always', false, false, true],
    ['never', undefined, false, false],
    ['never', true, true, false],
  ] as const)('%s with the wish %s', async (option, wish, squash, squashes) => {
    const here = await MergeActions.in(service, scene, { squash_option: option });
    const { iid } = await here.open(wish === undefined ? {} : { squash: wish }, ['One', 'Two']);
    expect(await here.shown(iid)).toMatchObject({ squash, squash_on_merge: squashes });
    const { body } = await here.as('developer').get(here.place.path).expect(200);
    expect(body).toEqual([expect.objectContaining({ squash, squash_on_merge: squashes })]);
    const merged = (await here.merge(iid).expect(200)).body as ShownMergeRequest;
    expect(merged.squash_commit_sha !== null).toBe(squashes);
  });

  test('a merge call that wants a forbidden squash is refused with a reason', async () => {
    const here = await MergeActions.in(service, scene, { squash_option: 'never' });
    const { iid } = await here.open({}, ['One', 'Two']);
    expect((await here.merge(iid, { squash: true }).expect(422)).body).toEqual(REFUSED);
    expect(await here.shown(iid)).toMatchObject({
      state: 'opened',
      squash: false,
      merge_error: 'This project does not allow squashing commits when merge requests are accepted.',
    });
    await here.merge(iid, { squash: false }).expect(200);
  });
});

test('unresolved threads block the merge if the project says so', async () => {
  const settings = { only_allow_merge_if_all_discussions_are_resolved: true };
  const [here, lax] = [await MergeActions.in(service, scene, settings), await MergeActions.in(service, scene)];
  for (const { actions, isBlocked } of [
    { actions: here, isBlocked: true },
    { actions: lax, isBlocked: false },
  ]) {
    const { iid } = await actions.open();
    const threads = `${actions.path(iid)}/discussions`;
    const { body } = await actions.as('reporter').post(threads).send({ body: 'Why?' }).expect(201);
    await actions
      .as('reporter')
      .post(`${actions.path(iid)}/notes`)
      .send({ body: 'A comment' })
      .expect(201);
    const shown = await actions.shown(iid);
    expect([shown['blocking_discussions_resolved'], shown['detailed_merge_status']]).toEqual(
      isBlocked ? [false, 'discussions_not_resolved'] : [true, 'mergeable'],
    );
    if (isBlocked) {
      expect((await actions.merge(iid, { sha: 'x' }).expect(405)).body).toEqual({ message: '405 Method Not Allowed' });
      const thread = `${threads}/${(body as { id: string }).id}`;
      await actions.as('developer').put(thread).query({ resolved: true }).expect(200);
      expect(await actions.shown(iid)).toMatchObject({
        blocking_discussions_resolved: true,
        detailed_merge_status: 'mergeable',
      });
    }
    await actions.merge(iid).expect(200);
  }
});

test('templates of the project render the messages', async () => {
  const here = await MergeActions.in(service, scene, {
    merge_commit_template: '%{title} (%{local_reference})\n\n%{all_commits}\n\nMerged by %{merged_by}',
    squash_commit_template: '%{first_commit} of %{source_branch}\n\n%{co_authored_by}',
  });
  const { iid, source } = await here.open({ squash: true, title: 'Nests' }, ['One', 'Two']);
  const merged = (await here.merge(iid, {}, 'maintainer').expect(200)).body as ShownMergeRequest;
  const { maintainer } = here.place.cast;
  expect((await here.commit(merged.merge_commit_sha)).message).toBe(
    `Nests (!${iid})\n\n* One\n\n* Two\n\nMerged by ${maintainer.name} <${maintainer.id}-${maintainer.username}@users.noreply.localhost>`,
  );
  expect((await here.commit(merged.squash_commit_sha)).message).toBe(
    `One of ${source}\n\nCo-authored-by: Wren <wren@example.org>`,
  );
  const own = await here.open();
  const sent = { merge_commit_message: 'Own' };
  const kept = (await here.merge(own.iid, sent).expect(200)).body as ShownMergeRequest;
  expect((await here.commit(kept.merge_commit_sha)).message).toBe('Own');
});

test('new merge requests want their branch removed if the project has said so', async () => {
  const here = await MergeActions.in(service, scene, { remove_source_branch_after_merge: true });
  const [wanted, kept] = [await here.open(), await here.open({ remove_source_branch: false })];
  expect(await here.shown(wanted.iid)).toMatchObject({ force_remove_source_branch: true });
  expect(await here.shown(kept.iid)).toMatchObject({ force_remove_source_branch: false });
  await here.merge(wanted.iid).expect(200);
  await here.merge(kept.iid).expect(200);
  expect([await here.tip(wanted.source), await here.tip(kept.source)]).toEqual(['', kept.commits[0]]);
});
