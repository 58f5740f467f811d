import { Gitlab } from '@gitbeaker/rest';
import { call, estate, mark } from '../support/estate';

/** Files of repositories with an unmodified public API client, through the gateway. */
describe('files of repositories with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { CommitDiscussions, Commits, Repositories, RepositoryFiles } = root;
  const path = `files-${mark}`;
  const name = 'src/größe "1".txt';
  const encoded = encodeURIComponent(name);
  let projectId: number;

  beforeAll(async () => {
    projectId = (await root.Projects.create({ name: path })).id;
  });

  it('writes, reads and removes files', async () => {
    const made = await RepositoryFiles.create(projectId, name, 'main', 'one\ntwo\n', 'First');
    expect(made).toEqual({ file_path: name, branch: 'main' });
    const shown = await RepositoryFiles.show(`root/${path}`, name, 'main');
    expect(shown).toMatchObject({ file_name: 'größe "1".txt', file_path: name, size: 8, ref: 'main' });
    expect(Buffer.from(shown.content, 'base64').toString()).toBe('one\ntwo\n');
    await RepositoryFiles.edit(projectId, name, 'main', Buffer.from('one\nTWO\n').toString('base64'), 'Second', {
      encoding: 'base64',
    });
    expect(await RepositoryFiles.showRaw(projectId, name, 'HEAD')).toBe('one\nTWO\n');
    const blamed = await RepositoryFiles.allFileBlames(projectId, name, 'main', { range: { start: 2, end: 2 } });
    expect(blamed).toEqual([{ commit: expect.objectContaining({ message: 'Second' }), lines: ['TWO'] }]);
    await RepositoryFiles.create(projectId, 'gone', 'main', '', 'Third');
    await RepositoryFiles.remove(projectId, 'gone', 'main', 'Fourth');
    await expect(RepositoryFiles.show(projectId, 'gone', 'main')).rejects.toThrow(/File Not Found/);
    await expect(RepositoryFiles.show(projectId, name, 'none')).rejects.toThrow(/Commit Not Found/);
  });

  it('answers HEAD with headers alone', async () => {
    for (const suffix of ['', '/raw', '/blame']) {
      const url = `/projects/${projectId}/repository/files/${encoded}${suffix}?ref=main`;
      const { status, headers, text } = await call('HEAD', url);
      expect([status, text, headers.get('x-gitlab-size')]).toEqual([200, '', '8']);
      expect(decodeURIComponent(headers.get('x-gitlab-file-path')!)).toBe(name);
    }
  });

  it('commits actions, follows the links of a tree, and downloads archives', async () => {
    const actions = Array.from({ length: 45 }, (_, n) => ({
      action: 'create' as const,
      filePath: `d${n % 3}/f${n}`,
      content: String(n),
    }));
    const made = await Commits.create(projectId, 'feature/x', 'Many', actions, { startBranch: 'main' });
    expect(made).toMatchObject({ title: 'Many', stats: { additions: 45, deletions: 0, total: 45 } });
    const tree = await Repositories.allRepositoryTrees(projectId, { recursive: true, ref: 'feature/x' });
    expect(tree.map((entry) => entry.path).filter((one) => /^d\d\/f/.test(one))).toHaveLength(45);
    const file = tree.find((entry) => entry.path === 'd0/f0')!;
    expect(await Repositories.showBlob(projectId, file.id)).toMatchObject({ size: 1, content: 'MA==' });
    const archive = await Repositories.showArchive(projectId, { fileType: 'zip', sha: 'feature/x' });
    expect(Buffer.from(await archive.arrayBuffer()).toString('latin1', 0, 2)).toBe('PK');
    const url = `/projects/${projectId}/repository/archive.tar.gz?sha=feature%2Fx&path=d1`;
    const { status, headers } = await call('GET', url);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(headers.get('content-disposition')).toContain(`filename="${path}-feature-x-${made.id}-d1.tar.gz"`);
  });

  it('comments on commits and discusses them', async () => {
    const made = await Commits.create(projectId, 'main', 'Talk', [
      { action: 'create', filePath: 'talk.txt', content: 'one\ntwo\n' },
    ]);
    await Commits.createComment(projectId, made.id, 'A note', { path: 'talk.txt', line: 2, lineType: 'new' });
    const comments = await Commits.allComments(projectId, 'main');
    expect(comments).toEqual([
      expect.objectContaining({ note: 'A note', path: 'talk.txt', line: 2, line_type: 'new' }),
    ]);
    const [parent] = made.parent_ids as string[];
    const shas = { baseSha: parent!, startSha: parent!, headSha: made.id };
    const position = { ...shas, positionType: 'text' as const, oldPath: 'talk.txt', newPath: 'talk.txt', newLine: '1' };
    const { id, notes } = await CommitDiscussions.create(projectId, made.id, 'A thread', { position });
    expect(notes).toEqual([expect.objectContaining({ type: 'DiffNote', noteable_type: 'Commit' })]);
    const reply = await CommitDiscussions.addNote(projectId, made.id, id, 'A reply');
    await CommitDiscussions.editNote(projectId, made.id, id, reply.id, { body: 'Edited' });
    const shown = await CommitDiscussions.show(projectId, made.id, id);
    expect(shown.notes!.map(({ body }) => body)).toEqual(['A thread', 'Edited']);
    await CommitDiscussions.removeNote(projectId, made.id, id, reply.id);
    expect(await CommitDiscussions.all(projectId, made.id)).toHaveLength(2);
    expect(await Commits.allComments(projectId, made.id)).toHaveLength(2);
  });

  it('accepts a commit of 40 MiB', async () => {
    const content = Buffer.alloc(30 * 1024 * 1024, 'abcdefg').toString('base64');
    const actions = [{ action: 'create' as const, filePath: 'large', content, encoding: 'base64' as const }];
    const made = await Commits.create(projectId, 'main', 'Large', actions);
    expect(made.message).toBe('Large');
    const { headers } = await call('HEAD', `/projects/${projectId}/repository/files/large?ref=main`);
    expect(headers.get('x-gitlab-size')).toBe(String(30 * 1024 * 1024));
  });
});
