import { Gitlab } from '@gitbeaker/rest';
import { call, estate, mark } from '../support/estate';

/** Releases and uploads with an unmodified public API client, through the gateway. */
describe('releases with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { ProjectReleases, Projects, ReleaseLinks, RepositoryFiles, Tags } = root;
  let projectId: number;

  beforeAll(async () => {
    projectId = (await Projects.create({ name: `releases-${mark}` })).id;
    await RepositoryFiles.create(projectId, 'a.ts', 'main', 'export const a = 1;\n', 'First');
  });

  it('creates a release with its tag and links, and finds it', async () => {
    const release = await ProjectReleases.create(projectId, {
      ...{ tagName: 'v1.0.0', ref: 'main', name: 'First', description: '# Notes' },
      assets: { links: [{ name: 'a', url: 'https://a.example/a', directAssetPath: '/bin/a', linkType: 'package' }] },
    } as never);
    expect(release).toMatchObject({ tag_name: 'v1.0.0', name: 'First', upcoming_release: false, assets: { count: 5 } });
    expect(await ProjectReleases.show(projectId, 'v1.0.0')).toEqual(release);
    expect(await ProjectReleases.showLatest(projectId)).toEqual(release);
    expect(await ProjectReleases.all(projectId)).toEqual([release]);
    expect(await Tags.show(projectId, 'v1.0.0')).toMatchObject({ release: { tag_name: 'v1.0.0' } });
    const link = await ReleaseLinks.create(projectId, 'v1.0.0', 'b', 'https://b.example/b');
    expect((await ReleaseLinks.all(projectId, 'v1.0.0')).map(({ name }) => name)).toEqual(['b', 'a']);
    await ReleaseLinks.edit(projectId, 'v1.0.0', link.id, { name: 'c' });
    expect(await ReleaseLinks.show(projectId, 'v1.0.0', link.id)).toMatchObject({ name: 'c', link_type: 'other' });
    await ReleaseLinks.remove(projectId, 'v1.0.0', link.id);
  });

  it('leads to the address of a link, whose path the client encodes', async () => {
    const path = `/projects/${projectId}/releases/v1.0.0/downloads/${encodeURIComponent('bin/a')}`;
    const { status, headers } = await call('GET', path);
    expect([status, headers.get('location')]).toEqual([302, 'https://a.example/a']);
  });

  it('changes and removes a release', async () => {
    expect(await ProjectReleases.edit(projectId, 'v1.0.0', { name: 'New' })).toMatchObject({ name: 'New' });
    await ProjectReleases.remove(projectId, 'v1.0.0');
    await expect(ProjectReleases.show(projectId, 'v1.0.0')).rejects.toThrow(/Not Found/);
    expect(await Tags.show(projectId, 'v1.0.0')).toMatchObject({ release: null });
  });

  it('shows languages, and stores uploads', async () => {
    expect(await Projects.showLanguages(projectId)).toEqual({ TypeScript: 100 });
    const content = new Blob(['text']);
    const upload = await Projects.uploadForReference(projectId, { content, filename: 'notes.txt' });
    expect(upload).toMatchObject({
      alt: 'notes.txt',
      url: expect.stringMatching(/^\/uploads\/[0-9a-f]{32}\/notes.txt$/),
    });
    const { full_path: path } = upload as unknown as { full_path: string };
    const file = await fetch(`${estate.baseUrl}${path}`, { headers: { 'private-token': estate.rootToken } });
    expect([file.status, await file.text()]).toEqual([200, 'text']);
    expect((await fetch(`${estate.baseUrl}${path}`)).status).toBe(404);
    expect((await call('GET', `/projects/${projectId}/languages`)).status).toBe(200);
  });
});
