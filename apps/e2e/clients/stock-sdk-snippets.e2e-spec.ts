import { Gitlab } from '@gitbeaker/rest';
import { call, estate, mark } from '../support/estate';

/** Snippets and their notes with an unmodified public API client. */
describe('snippets with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const textOf = async (answer: unknown): Promise<unknown> => (answer instanceof Blob ? answer.text() : answer);
  let projectId: number;
  let path: string;

  beforeAll(async () => {
    path = `snippets-${mark}`;
    projectId = (await root.Projects.create({ name: path })).id;
  });

  it('creates and changes project snippets with their files', async () => {
    const { ProjectSnippets } = root;
    const made = await ProjectSnippets.create(projectId, 'A nest', {
      visibility: 'internal',
      description: 'of twigs',
      files: [
        { filePath: 'src/b.txt', content: 'Beta\r\n' },
        { filePath: 'a.txt', content: 'Alpha' },
      ],
    });
    expect(made).toMatchObject({
      title: 'A nest',
      description: 'of twigs',
      visibility: 'internal',
      file_name: 'a.txt',
      project_id: projectId,
      author: { username: 'root' },
    });
    expect(made.files!.map((file) => file.path)).toEqual(['a.txt', 'src/b.txt']);
    expect(made.web_url).toMatch(new RegExp(`/${path}/-/snippets/${made.id}$`));
    expect(await ProjectSnippets.show(projectId, made.id)).toEqual(made);
    expect(await ProjectSnippets.show(`root/${path}`, made.id)).toEqual(made);
    expect((await ProjectSnippets.all(projectId)).map(({ id }) => id)).toEqual([made.id]);
    expect(await textOf(await ProjectSnippets.showContent(projectId, made.id))).toBe('Alpha');
    const file = (ref: string, name: string) =>
      ProjectSnippets.showRepositoryFileContent(projectId, made.id, ref, name);
    expect(await textOf(await file('main', 'src/b.txt'))).toBe('Beta\r\n');
    await expect(file('no-branch', 'a.txt')).rejects.toThrow(/Reference Not Found/);
    const edited = await ProjectSnippets.edit(projectId, made.id, {
      visibility: 'public',
      files: [
        { action: 'move', previousPath: 'src/b.txt', filePath: 'b.txt' },
        { action: 'update', filePath: 'a.txt', content: 'Alpha again' },
      ],
    });
    expect(edited).toMatchObject({ visibility: 'public', files: [{ path: 'a.txt' }, { path: 'b.txt' }] });
    expect(await textOf(await file('HEAD', 'b.txt'))).toBe('Beta\r\n');
    expect(await textOf(await file('HEAD', 'a.txt'))).toBe('Alpha again');
    expect(await ProjectSnippets.showUserAgentDetails(projectId, made.id)).toEqual({
      user_agent: expect.any(String),
      ip_address: expect.stringMatching(/^(::ffff:)?127\.|^::1$/),
      akismet_submitted: false,
    });
    await ProjectSnippets.remove(projectId, made.id);
    await expect(ProjectSnippets.show(projectId, made.id)).rejects.toThrow(/Snippet Not Found/);
  });

  it('creates and changes personal snippets', async () => {
    const { Snippets } = root;
    const files = [{ filePath: 'one.txt', content: 'One' }];
    const made = await Snippets.create(`Own ${mark}`, { visibility: 'public', files });
    expect(made).toMatchObject({ project_id: null, visibility: 'public', files: [{ path: 'one.txt' }] });
    const idsOf = async (options: object) => (await Snippets.all(options)).map(({ id }) => id);
    expect(await idsOf({})).toContain(made.id);
    expect(await idsOf({ public: true })).toContain(made.id);
    expect(await idsOf({ createdBefore: '2020-01-01T00:00:00Z' })).toEqual([]);
    expect(await Snippets.show(made.id)).toEqual(made);
    expect(await textOf(await Snippets.showContent(made.id))).toBe('One');
    expect(await textOf(await Snippets.showRepositoryFileContent(made.id, 'main', 'one.txt'))).toBe('One');
    expect(await Snippets.edit(made.id, { visibility: 'private' })).toMatchObject({ visibility: 'private' });
    expect(await idsOf({ public: true })).not.toContain(made.id);
    expect(await Snippets.showUserAgentDetails(made.id)).toMatchObject({ akismet_submitted: false });
    await Snippets.remove(made.id);
    await expect(Snippets.show(made.id)).rejects.toThrow(/Snippet Not Found/);
  });

  it('serves raw text as a download, and only to users who can see the snippet', async () => {
    const files = [{ filePath: 'dir/page.html', content: '<script>alert(1)</script>' }];
    const { id } = await root.Snippets.create(`Page ${mark}`, { visibility: 'public', files });
    const raw = await call('GET', `/snippets/${id}/files/main/dir%2Fpage.html/raw`, { token: null });
    expect([raw.status, raw.text]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(raw.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
    });
    await root.Snippets.edit(id, { visibility: 'internal' });
    expect((await call('GET', `/snippets/${id}/raw`, { token: null })).status).toBe(404);
    await root.Snippets.remove(id);
  });

  it('writes notes, discussions and emoji on project snippets', async () => {
    const { ProjectSnippets } = root;
    const {
      ProjectSnippetNotes: Notes,
      ProjectSnippetDiscussions: Discussions,
      ProjectSnippetAwardEmojis: Awards,
    } = root;
    const files = [{ filePath: 'a.txt', content: 'Alpha' }];
    const { id } = await ProjectSnippets.create(projectId, 'Talked of', { visibility: 'private', files });
    const note = await Notes.create(projectId, id, 'Fine twigs');
    expect(note).toMatchObject({ body: 'Fine twigs', noteable_type: 'Snippet', noteable_id: id, noteable_iid: null });
    expect(await Notes.show(projectId, id, note.id)).toEqual(note);
    expect(await Notes.edit(projectId, id, note.id, { body: 'Dry twigs' })).toMatchObject({ body: 'Dry twigs' });

    const thread = await Discussions.create(projectId, id, 'Which tree?');
    const answer = await Discussions.addNote(projectId, id, thread.id, 'The old one.');
    expect(answer).toMatchObject({ type: 'DiscussionNote', noteable_type: 'Snippet', resolvable: false });
    await Discussions.editNote(projectId, id, thread.id, answer.id, { body: 'The old oak.' });
    const shown = await Discussions.show(projectId, id, thread.id);
    expect(shown.notes!.map(({ body }) => body)).toEqual(['Which tree?', 'The old oak.']);
    expect((await Discussions.all(projectId, id)).map(({ individual_note: alone }) => alone)).toEqual([true, false]);
    await Discussions.removeNote(projectId, id, thread.id, answer.id);
    expect((await Notes.all(projectId, id, { sort: 'asc' })).map(({ body }) => body)).toEqual([
      'Dry twigs',
      'Which tree?',
    ]);

    const award = await Awards.award(projectId, id, 'rocket');
    expect(award).toMatchObject({ name: 'rocket', awardable_type: 'Snippet', awardable_id: id });
    expect(await Awards.all(projectId, id)).toEqual([award]);
    expect(await Awards.show(projectId, id, award.id)).toEqual(award);
    await Awards.remove(projectId, id, award.id);
    expect(await Awards.all(projectId, id)).toEqual([]);
    await Notes.remove(projectId, id, note.id);
    expect(await Notes.all(projectId, id)).toHaveLength(1);
  });
});
