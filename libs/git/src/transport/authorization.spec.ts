import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withAuthorization } from './authorization';

const former = process.env['TMPDIR'];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authorization-'));
  process.env['TMPDIR'] = folder;
});
afterAll(async () => {
  if (former === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = former;
  await rm(folder, { recursive: true });
});

/** Writes the file that a process leaves when it is killed. */
async function leaveCredentialFile(pid: number): Promise<string> {
  const left = join(folder, `rookery-fetch-${pid}-1767225600000-abcdef`);
  await mkdir(left);
  await writeFile(join(left, 'credentials'), 'Basic c2VjcmV0');
  return left;
}

const configuredPath = (config: readonly (readonly [string, string])[]): string => config[0]![1];

it('keeps the header in a private file until the step ends', async () => {
  const path = await withAuthorization('Basic abc', async (config) => {
    expect(await readFile(configuredPath(config), 'utf8')).toBe('[http]\n\textraHeader = "Authorization: Basic abc"\n');
    return configuredPath(config);
  });
  expect(existsSync(dirname(path))).toBe(false);
});

it('deletes the headers of processes that were killed', async () => {
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  const left = [await leaveCredentialFile(ended), await leaveCredentialFile(process.pid)];
  await withAuthorization('Basic abc', async () => undefined);
  expect(left.filter((one) => existsSync(one))).toEqual([]);
});

it('keeps the headers of steps that run', async () => {
  const other = await leaveCredentialFile(process.ppid);
  await withAuthorization('Basic abc', async (config) => {
    await withAuthorization('Basic def', async () => undefined);
    expect(existsSync(configuredPath(config))).toBe(true);
  });
  expect(existsSync(other)).toBe(true);
});
