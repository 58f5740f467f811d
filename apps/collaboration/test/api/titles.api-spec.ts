import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';

interface Titled {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly updated_at: string;
}

let service: SeededService;
let scene: MergeRequestScene;
let group: DirectoryNamespace;
/** A group without the project, whose milestones have unique titles in both. */
let otherGroup: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  group = await service.seed.group({ plan: 'premium' });
  project = await service.seed.project({ namespace_id: group.id });
  cast = await castOf(service.seed, project);
  otherGroup = await service.seed.group();
  for (const one of [group, otherGroup]) await service.seed.member(cast.owner, one, 'owner');
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const ownerClient = () => service.app.as(service.seed.viewer(cast.owner));
const LONGEST = 'x'.repeat(255);

/** Kinds with titles: their collection, what else a new one needs, and the number or id in its path. */
const KINDS = [
  ['issues', () => `/api/v4/projects/${project.id}/issues`, {}, 'iid'],
  ['epics', () => `/api/v4/groups/${group.id}/epics`, {}, 'iid'],
  ['milestones', () => `/api/v4/projects/${project.id}/milestones`, {}, 'id'],
  ['milestones of groups', () => `/api/v4/groups/${otherGroup.id}/milestones`, {}, 'id'],
  [
    'snippets',
    () => `/api/v4/projects/${project.id}/snippets`,
    { file_name: 'a', content: 'b', visibility: 'private' },
    'id',
  ],
] as const;

describe.each(KINDS)('titles of %s', (_, collection, fields, key) => {
  const send = async (method: 'post' | 'put', path: string, sent: object): Promise<Titled> =>
    (
      await ownerClient()
        [method](path)
        .send(sent)
        .expect(method === 'post' ? 201 : 200)
    ).body as Titled;

  it('lose outer blanks in JSON, forms and query parameters', async () => {
    const made = await send('post', collection(), { ...fields, title: '  pad  ded\t\n' });
    const path = `${collection()}/${made[key]}`;
    expect(made.title).toBe('pad  ded');
    expect((await send('put', path, { title: ` ${LONGEST} ` })).title).toBe(LONGEST);
    await ownerClient().put(path).type('form').send('title=+of+a+form+').expect(200);
    expect(((await ownerClient().get(path)).body as Titled).title).toBe('of a form');
    await ownerClient().put(path).query({ title: ' of a query ' }).expect(200);
    expect(((await ownerClient().get(path)).body as Titled).title).toBe('of a query');
  });

  it('are no change if only blanks differ', async () => {
    const made = await send('post', collection(), { ...fields, title: 'same' });
    const again = await send('put', `${collection()}/${made[key]}`, { title: '  same ' });
    expect(again.updated_at).toBe(made.updated_at);
  });

  it('are refused if nothing is left', async () => {
    expect(
      (
        await ownerClient()
          .post(collection())
          .send({ ...fields, title: ' \t ' })
      ).status,
    ).toBe(400);
  });
});

it('titles of merge requests lose outer blanks, before the mark of a draft too', async () => {
  const place = await scene.place();
  await scene.branch(place, 'topic');
  const as = service.app.as(service.seed.viewer(place.cast.owner));
  const branches = { source_branch: 'topic', target_branch: 'main' };
  const made = (
    await as
      .post(place.path)
      .send({ ...branches, title: '  Draft: pad  ' })
      .expect(201)
  ).body as Titled;
  expect(made).toMatchObject({ title: 'Draft: pad', draft: true });
  const path = `${place.path}/${made.iid}`;
  expect((await as.put(path).send({ title: ' ready\n' }).expect(200)).body).toMatchObject({
    title: 'ready',
    draft: false,
  });
  const comment = `${path}/notes`;
  await as.post(comment).send({ body: 'Renamed.\n/title   by a command  ' }).expect(201);
  expect((await as.get(path)).body).toMatchObject({ title: 'by a command' });
});

it('commands set titles without outer blanks', async () => {
  const issues = `/api/v4/projects/${project.id}/issues`;
  const made = (await ownerClient().post(issues).send({ title: 'x' }).expect(201)).body as Titled;
  await ownerClient()
    .post(`${issues}/${made.iid}/notes`)
    .send({ body: 'Renamed.\n/title   by a command  ' })
    .expect(201);
  expect((await ownerClient().get(`${issues}/${made.iid}`)).body).toMatchObject({ title: 'by a command' });
});
