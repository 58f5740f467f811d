import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { startDisk } from '../support/backends';
import { answerOf, startChild } from '../support/run-child';
import { until } from '../support/until';

let disk: Awaited<ReturnType<typeof startDisk>>;
beforeEach(async () => {
  disk = await startDisk();
});
afterEach(() => disk.close());

const putContent = (content: string | Buffer) =>
  disk.blobs.put(Readable.from([Buffer.from(content)]), { maxBytes: 100_000 });
const storedPathOf = (key: string): string => join(disk.root, 'files', key.slice(0, 2), key);
const findReferenced = () => Promise.resolve([]);

it('has files with mode 0600 in folders with mode 0700', async () => {
  const { key } = await putContent('x');
  const paths = [join(disk.root, 'files'), join(disk.root, 'files', key.slice(0, 2)), join(disk.root, 'uploads')];
  const modes = await Promise.all(
    [storedPathOf(key), ...paths].map(async (path) => ((await lstat(path)).mode & 0o777).toString(8)),
  );
  expect(modes).toEqual(['600', '700', '700', '700']);
});

it('lets a reader finish a file that is removed', async () => {
  const { key } = await putContent(randomBytes(90_000));
  const { body } = await disk.blobs.open(key);
  await disk.blobs.remove(key);
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) size += chunk.length;
  expect(size).toBe(90_000);
});

describe('a symbolic link', () => {
  it('in place of a file is none', async () => {
    const { key } = await putContent('x');
    await rename(storedPathOf(key), join(disk.root, 'outside'));
    await symlink(join(disk.root, 'outside'), storedPathOf(key));
    await expect(disk.blobs.open(key)).rejects.toMatchObject({ reason: 'not found' });
    await expect(disk.blobs.stat(key)).rejects.toMatchObject({ reason: 'not found' });
    await disk.blobs.remove(key);
    expect((await lstat(join(disk.root, 'outside'))).isFile()).toBe(true);
    await putContent('x');
    expect((await lstat(storedPathOf(key))).isFile()).toBe(true);
  });

  it.each(['files', 'files/2d'])('in place of the folder %s is not read, written or swept', async (name) => {
    const { key } = await putContent('x');
    const folder = join(disk.root, name);
    await rename(folder, join(disk.root, 'outside'));
    await symlink(join(disk.root, 'outside'), folder);
    await expect(disk.blobs.open(key)).rejects.toMatchObject({ reason: 'not found' });
    await expect(putContent('x')).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await disk.blobs.sweep({ findReferenced, olderThanMs: -1000 })).toMatchObject({ examined: 0 });
    expect(await readdir(join(disk.root, 'outside'))).toEqual([name === 'files' ? '2d' : key]);
  });
});

it('ignores what it did not make', async () => {
  await mkdir(join(disk.root, 'files/ab'), { recursive: true });
  await writeFile(join(disk.root, 'files/ab/notes.txt'), 'x');
  await writeFile(join(disk.root, 'files/notes.txt'), 'x');
  expect(await disk.blobs.sweep({ findReferenced, olderThanMs: -1000 })).toMatchObject({ examined: 0, removed: 0 });
});

it('reports a disk that cannot be written', async () => {
  await writeFile(join(disk.root, 'files'), 'in the way');
  await expect(putContent('x')).rejects.toMatchObject({ reason: 'unavailable' });
});

it('leaves nothing of an upload that cannot get its name', async () => {
  const { key } = await putContent('x');
  await disk.blobs.remove(key);
  await mkdir(join(storedPathOf(key), 'in the way'), { recursive: true });
  await expect(putContent('x')).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await disk.names()).toEqual([]);
});

it('shows nothing of an upload whose process was killed, and sweeps its remains', async () => {
  const child = startChild('put', disk.url);
  await until(async () => (await largestFileBytes(join(disk.root, 'uploads'))) > 1_000_000);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const [name = ''] = await disk.names();
  expect(name).toMatch(/^uploads\//);
  expect(await disk.blobs.sweep({ findReferenced })).toMatchObject({ examined: 0, leftovers: 0 });
  await disk.setTime(name, new Date(0));
  expect(await disk.blobs.sweep({ findReferenced })).toMatchObject({ examined: 0, leftovers: 1 });
  expect(await disk.names()).toEqual([]);
});

it('needs neither the AWS library nor WebAssembly in memory', async () => {
  expect(await answerOf('loaded', disk.url)).toEqual({ aws: 0, wasm: false });
});

async function largestFileBytes(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return Math.max(0, ...(await Promise.all(names.map(async (name) => (await lstat(join(folder, name))).size))));
}
