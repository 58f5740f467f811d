import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireDebianPackages } from '../support/debian-packages';
import { addMember, call, estate, mark, person } from '../support/estate';
import type { Person } from '../support/estate';

/** libgit2 by its Python binding: a git client that shares no code with git. */
const CLIENT = `
import json, sys, pygit2
url, folder, token = sys.argv[1:4]
texts = []
class Callbacks(pygit2.RemoteCallbacks):
    def credentials(self, url, username, allowed):
        return pygit2.UserPass('oauth2', token)
    def sideband_progress(self, text):
        texts.append(text)
    def push_update_reference(self, ref, message):
        if message: texts.append(ref + ': ' + message)
who = pygit2.Signature('Wren', 'wren@example.org')
def commit(repo, text, parents):
    tree = repo.TreeBuilder()
    tree.insert('a.txt', repo.create_blob(text.encode()), pygit2.GIT_FILEMODE_BLOB)
    return repo.create_commit(None, who, who, text, tree.write(), parents)
def push(repo, *specs):
    texts.clear()
    repo.remotes['origin'].push(list(specs), callbacks=Callbacks())
    return ''.join(texts)
repo = pygit2.clone_repository(url, folder, callbacks=Callbacks())
empty = repo.is_empty
first = commit(repo, 'first', [])
repo.create_reference('refs/heads/main', first)
said = {'first': push(repo, 'refs/heads/main')}
second, other = commit(repo, 'second', [first]), commit(repo, 'other', [first])
repo.create_reference('refs/heads/topic', second)
repo.create_tag('v1', second, pygit2.GIT_OBJ_COMMIT, who, 'One')
push(repo, 'refs/heads/topic', 'refs/tags/v1')
repo.references['refs/heads/topic'].set_target(other)
push(repo, '+refs/heads/topic')
repo.create_reference('refs/heads/gone', second)
push(repo, 'refs/heads/gone')
push(repo, ':refs/heads/gone')
repo.references['refs/heads/main'].set_target(other)
said['forced'] = push(repo, '+refs/heads/main:refs/heads/main')
again = pygit2.clone_repository(url, folder + '-again', callbacks=Callbacks())
refs = {name: str(again.references[name].peel(pygit2.Commit).id) for name in again.references}
print(json.dumps({'empty': empty, 'said': said, 'refs': refs, 'first': str(first), 'second': str(second), 'other': str(other)}))
`;
const run = promisify(execFile);

let folder: string;
let ada: Person;
let bea: Person;
beforeAll(async () => {
  requireDebianPackages('python3-pygit2');
  folder = await mkdtemp(join(tmpdir(), 'rookery-libgit2-'));
  await writeFile(join(folder, 'client.py'), CLIENT);
  [ada, bea] = [await person('libgit2-ada'), await person('libgit2-bea')];
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const client = (url: string, name: string, { token }: Person) =>
  run('/usr/bin/python3', [join(folder, 'client.py'), url, join(folder, name), token], { cwd: folder });

test('libgit2 clones, pushes, forces and deletes, and is refused in words', async () => {
  const { body } = await call('POST', '/projects', { token: ada.token, json: { name: `libgit2-${mark}` } });
  const url = `${estate.baseUrl}/${body.path_with_namespace}.git`;
  const { empty, said, refs, first, second, other } = JSON.parse((await client(url, 'ada', ada)).stdout);
  expect(empty).toBe(true);
  expect(said.first).not.toContain('Rookery');
  expect(said.forced).toContain('Rookery: You are not allowed to force push code to a protected branch');
  expect(said.forced).toContain('refs/heads/main: pre-receive hook declined');
  expect(refs).toEqual({
    ...{ 'refs/heads/main': first, 'refs/remotes/origin/main': first, 'refs/remotes/origin/HEAD': first },
    ...{ 'refs/remotes/origin/topic': other, 'refs/tags/v1': second },
  });
  const stranger = await client(url, 'bea', bea).catch(({ stderr }) => ({ stderr: String(stderr) }));
  expect(stranger.stderr).toMatch(/404|not found/i);
  await addMember(body.id, bea, 20, ada);
  const reporter = await client(url, 'bea-again', bea).catch(({ stderr }) => ({ stderr: String(stderr) }));
  expect(reporter.stderr).toMatch(/403/);
});
