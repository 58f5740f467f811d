import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { Server } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { GitStarter } from '../../src/process/git-starter';
import type { StartedGit, StartRequest } from '../../src/process/git-starter';
import { until } from '../support/repository';

const folder = mkdtempSync(join(tmpdir(), 'rookery-starter-'));
afterAll(() => rmSync(folder, { recursive: true }));

const shellRequest = (script: string, hasInput = false): StartRequest => ({
  program: '/bin/sh',
  args: ['-c', script],
  cwd: folder,
  env: { PATH: '/usr/bin:/bin', ONE: 'two' },
  hasInput,
});
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readProcessStatus(pid));
const readProcessStatus = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 'State: Z';
  }
};
const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(readProcessStatus(pid))![1]);
/** Sockets of starters that this machine's users have. */
const listStarterFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('rookery-git-'));

describe('a started process', () => {
  const starter = new GitStarter();
  afterAll(() => starter.close());

  it('has its own streams, the given environment and folder, and reports its end', async () => {
    const one = await starter.start(
      shellRequest('cat; pwd; echo $ONE; echo $0 $NODE_CHANNEL_FD; echo bad >&2; exit 3', true),
    );
    one.stdin!.end('input\n');
    expect(await text(one.stdout)).toBe(`input\n${folder}\ntwo\n/bin/sh\n`);
    expect(await one.closed).toEqual({ code: 3, signal: null, stderr: 'bad\n' });
  });

  it('gets every byte of a large input, and the caller every byte of the output, many at a time', async () => {
    const input = Buffer.alloc(3_000_000, 'rookery ');
    const sums = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const one = await starter.start(shellRequest(`echo ${index}; cat`, true));
        one.stdin!.end(input);
        const output = await text(one.stdout);
        return [output.slice(0, output.indexOf('\n')), output.length];
      }),
    );
    expect(sums).toEqual(Array.from({ length: 20 }, (_, n) => [String(n), input.length + String(n).length + 1]));
  });

  it('that ends at once is started all the same, many at a time', async () => {
    const ends = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const one = await starter.start({ ...shellRequest('', true), program: '/bin/true', args: [] });
        one.stdout.resume();
        return (await one.closed).code;
      }),
    );
    expect(ends).toEqual(Array(60).fill(0));
  });

  it('keeps only the beginning of its messages', async () => {
    const one = await starter.start(shellRequest('head -c 3000000 /dev/zero | tr "\\0" x >&2'));
    one.stdout.resume();
    expect((await one.closed).stderr).toHaveLength(64 * 1024);
  });

  it.each([
    ['a program that does not exist', { ...shellRequest(''), program: '/nonexistent' }, 'ENOENT'],
    ['a folder that does not exist', { ...shellRequest(''), cwd: '/nonexistent' }, 'ENOENT'],
    ['arguments that are too long', { ...shellRequest(''), args: ['x'.repeat(3_000_000)] }, 'E2BIG'],
  ])('is refused with %s', async (_, request, code) => {
    await expect(starter.start({ ...request, hasInput: true })).rejects.toMatchObject({ code });
  });

  it('ends with its whole group', async () => {
    const one = await starter.start(shellRequest('trap "" TERM; sleep 600 & echo $!; wait'));
    const pid = await new Promise<number>((resolve) => one.stdout.once('data', (data) => resolve(Number(data))));
    one.stdout.resume();
    one.end();
    expect(await one.closed).toMatchObject({ code: null, signal: 'SIGKILL' });
    await until(() => !isAlive(pid));
  });
});

describe('the program that starts git', () => {
  const running = async (starter: GitStarter): Promise<{ one: StartedGit; pid: number }> => {
    const one = await starter.start(shellRequest('echo $$; exec sleep 600'));
    const pid = await new Promise<number>((resolve) => one.stdout.once('data', (data) => resolve(Number(data))));
    one.stdout.resume();
    return { one, pid };
  };

  it('is replaced when it dies, and its processes end as killed', async () => {
    const starter = new GitStarter();
    const { one, pid } = await running(starter);
    process.kill(parentOf(pid), 'SIGKILL');
    expect(await one.closed).toEqual({ code: null, signal: 'SIGKILL', stderr: '' });
    await until(() => !isAlive(pid));
    const next = await starter.start(shellRequest('echo again'));
    expect(await text(next.stdout)).toBe('again\n');
    starter.close();
  });

  it('fails starts that it does not survive, and none of them ends the service', async () => {
    const starter = new GitStarter();
    const { one, pid } = await running(starter);
    const program = parentOf(pid);
    process.kill(program, 'SIGKILL');
    // Without a turn of the event loop this process does not know of the death yet.
    while (isAlive(program));
    const starts = await Promise.allSettled(Array.from({ length: 5 }, () => starter.start(shellRequest('echo late'))));
    for (const start of starts) if (start.status === 'fulfilled') start.value.stdout.resume();
    await one.closed;
    expect(await text((await starter.start(shellRequest('echo again'))).stdout)).toBe('again\n');
    starter.close();
  });

  it.each(['true', 'sleep 60'])('fails a start whose streams are lost: %s', async (script) => {
    const starter = new GitStarter();
    const emit = Server.prototype.emit;
    // Without free descriptors, libuv accepts connections and closes them without a report.
    const lost = jest.spyOn(Server.prototype, 'emit').mockImplementation(function (this: Server, name, ...values) {
      if (String(name) !== 'connection') return emit.call(this, name, ...values);
      setTimeout(() => (values[0] as Socket).destroy(), 300);
      return true;
    });
    try {
      await expect(starter.start(shellRequest(script, true))).rejects.toThrow(
        'streams of a process that was started were lost',
      );
    } finally {
      lost.mockRestore();
    }
    expect(await text((await starter.start(shellRequest('echo again'))).stdout)).toBe('again\n');
    starter.close();
  });

  it('ends after its last process when it is closed, and leaves no file', async () => {
    const before = listStarterFolders();
    const starter = new GitStarter();
    const { one, pid } = await running(starter);
    const program = parentOf(pid);
    starter.close();
    expect([isAlive(pid), isAlive(program)]).toEqual([true, true]);
    one.end();
    await one.closed;
    await until(() => !isAlive(program));
    expect(listStarterFolders().filter((name) => !before.includes(name))).toEqual([]);
  });

  it('has nothing of the environment of the service', async () => {
    const starter = new GitStarter();
    const { one, pid } = await running(starter);
    const names = readFileSync(`/proc/${parentOf(pid)}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean);
    expect(names.map((line) => line.split('=')[0]).filter((name) => !name!.startsWith('NODE_CHANNEL_'))).toEqual([]);
    one.end();
    await one.closed;
    starter.close();
  });
});
