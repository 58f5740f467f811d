import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

/** Merge requests show code, so who may not read the repository does not read them. Source: reference repositories 2.1. */
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

const READS = ['', '/commits', '/diffs', '/changes', '/raw_diffs', '/versions', '/notes', '/discussions'];

async function openMergeRequestIn(place: MergePlace): Promise<string> {
  await scene.branch(place, 'work');
  const { body } = await service.app
    .as(service.seed.viewer(place.cast.developer))
    .post(place.path)
    .send({ title: 'A change', source_branch: 'work', target_branch: 'main' })
    .expect(201);
  return `${place.path}/${(body as { iid: number }).iid}`;
}

/** Repository of a public project by level, and the readers that it has. */
test.each<[string, readonly (keyof Cast)[], readonly (keyof Cast)[]]>([
  ['private', ['guest', 'reporter', 'admin'], ['stranger']],
  ['disabled', [], ['stranger', 'guest', 'reporter', 'owner']],
])('of a project whose repository is %s are for those who may read the code', async (level, readers, others) => {
  const place = await scene.place({ visibility: 'public' });
  const path = await openMergeRequestIn(place);
  await service.seed.put('projects', { ...place.project, repository_access_level: level } as never);
  const everywhere = '/api/v4/merge_requests?scope=all&per_page=100';
  for (const name of [...readers, ...others]) {
    const as = service.app.as(service.seed.viewer(place.cast[name]));
    const answers = await Promise.all([...READS.map((below) => path + below), place.path].map((one) => as.get(one)));
    const isReader = readers.includes(name);
    expect([name, answers.map(({ status }) => status)]).toEqual([name, answers.map(() => (isReader ? 200 : 403))]);
    const refs = { base_sha: place.mainSha, start_sha: place.mainSha, head_sha: place.mainSha };
    const position = { ...refs, position_type: 'text', new_path: 'x', new_line: 1 };
    const refused = await as.post(`${path}/discussions`).send({ body: 'x', position });
    expect([name, refused.status]).toEqual([name, isReader ? 400 : 403]);
    const listed = (await as.get(everywhere).expect(200)).body as { project_id: number }[];
    expect([name, listed.some((one) => one.project_id === place.project.id)]).toEqual([name, isReader]);
  }
});
