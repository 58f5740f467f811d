/**
 * Files of a stage, and programs that run in them as in a container: in an own mount and process namespace, with absolute
 * paths such as `/src` and `/app`. System folders are overlays above the base, so that this machine stays unchanged, and
 * mounts end with the program. Needs Linux and root.
 *
 * @import { Base } from './base.mjs'
 * @typedef {{ source: string, target: string, isWritable?: boolean }} Bind
 * @typedef {{ env: Record<string, string>, workdir: string, user: string, binds?: Bind[], hasNetwork?: boolean,
 *   temporary?: string[], isConfined?: boolean, log?: string }} Run
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../processes/process-records.mjs';

/** System folders with changes of the stage in a layer above the base. */
const LAYERED = ['usr', 'etc', 'var'];
/** Links to folders of `/usr`, or folders of this machine where it has no such links. */
const LINKED = ['bin', 'sbin', 'lib', 'lib64'];
const MOUNT_POINTS = ['dev', 'proc', 'tmp', 'root'];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];

/** Children that run. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @param {string} text */
const quoteForShell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export class StageFolder {
  /**
   * @param {Base} base
   * @param {string} folder
   */
  constructor(base, folder) {
    this.base = base.folder;
    this.files = join(folder, 'files');
    this.root = join(folder, 'root');
    this.work = join(folder, 'work');
    this.logs = join(folder, 'logs');
    for (const path of [this.files, this.root, this.work, this.logs]) mkdirSync(path, { recursive: true });
    for (const name of LAYERED) for (const at of [this.files, this.work]) mkdirSync(join(at, name));
    for (const name of MOUNT_POINTS) mkdirSync(join(this.files, name));
    for (const name of LINKED) {
      const host = join('/', name);
      if (!existsSync(host)) continue;
      if (lstatSync(host).isSymbolicLink()) symlinkSync(readlinkSync(host), join(this.files, name));
      else mkdirSync(join(this.files, name));
    }
  }

  /**
   * Runs a program to its end. Errors: none; the caller looks at the status.
   * @param {string[]} words
   * @param {Run} run
   * @returns {Promise<{ status: number | null, output: string }>}
   */
  async run(words, run) {
    const { child, log } = this.start(words, run);
    const status = await new Promise((resolve) => child.once('exit', resolve));
    return { status, output: readFileSync(log, 'utf8') };
  }

  /**
   * Starts a program. The child is `unshare`; `stageProgramPid` returns the id of the program itself. With `isConfined`, only
   * binds and folders of `temporary` are writable, and the program has no capabilities.
   * @param {string[]} words
   * @param {Run} run
   */
  start(words, run) {
    const log = join(this.logs, `${run.log ?? 'run'}.log`);
    for (const { source, target } of run.binds ?? []) createMountPoint(source, join(this.files, target));
    for (const target of run.temporary ?? []) mkdirSync(join(this.files, target), { recursive: true });
    const [uid = '0', gid = '0'] = run.user.split(':');
    const limits = run.isConfined ? ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...limits];
    const all = ['chroot', this.root, 'env', `--chdir=${run.workdir}`, 'setpriv', ...identity, ...words];
    const script = `${this.#mounts(run).join('\n')}\nexec ${all.map(quoteForShell).join(' ')}`;
    const network = run.hasNetwork ? [] : ['--net'];
    const namespaces = ['--mount', '--propagation=private', '--pid', '--fork', '--kill-child', ...network];
    const output = openSync(log, 'w');
    const child = spawn('unshare', [...namespaces, 'sh', '-euc', script], {
      env: run.env,
      cwd: '/',
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    running.add(child);
    child.once('exit', () => running.delete(child));
    return { child, log };
  }

  /**
   * Commands that mount everything below `root`.
   * @param {Run} run
   */
  #mounts({ binds = [], temporary = [], isConfined = false }) {
    /** @param {string} path */
    const at = (path) => quoteForShell(join(this.root, path));
    const lines = [`mount --bind ${quoteForShell(this.files)} ${at('')}`];
    if (isConfined) lines.push(`mount -o remount,bind,ro ${at('')}`);
    for (const name of LAYERED) {
      const lower = `${join(this.base, name)}:/${name}`;
      const upper = join(this.files, name);
      const layers = isConfined
        ? `ro,lowerdir=${upper}:${lower}`
        : `lowerdir=${lower},upperdir=${upper},workdir=${join(this.work, name)}`;
      lines.push(`mount -t overlay overlay -o ${quoteForShell(layers)} ${at(name)}`);
    }
    for (const name of LINKED.filter((one) => existsSync(`/${one}`) && !lstatSync(`/${one}`).isSymbolicLink()))
      lines.push(...readOnlyBindMountCommands(`/${name}`, at(name)));
    lines.push(...readOnlyBindMountCommands(join(this.base, 'local'), at('usr/local')));
    lines.push(`mount -t proc proc ${at('proc')}`, `mount -t tmpfs -o mode=755 tmpfs ${at('dev')}`);
    for (const name of DEVICES)
      lines.push(`touch ${at(`dev/${name}`)}`, `mount --bind /dev/${name} ${at(`dev/${name}`)}`);
    lines.push(`ln -s /proc/self/fd ${at('dev/fd')}`, `mkdir -m 1777 ${at('dev/shm')}`);
    for (const path of temporary) lines.push(`mount -t tmpfs -o mode=1777 tmpfs ${at(path)}`);
    for (const { source, target, isWritable } of binds)
      lines.push(
        ...(isWritable
          ? [`mount --bind ${quoteForShell(source)} ${at(target)}`]
          : readOnlyBindMountCommands(source, at(target))),
      );
    return lines;
  }
}

/**
 * @param {string} source
 * @param {string} target Quoted.
 */
function readOnlyBindMountCommands(source, target) {
  return [`mount --bind ${quoteForShell(source)} ${target}`, `mount -o remount,bind,ro ${target}`];
}

/**
 * @param {string} source
 * @param {string} path
 */
function createMountPoint(source, path) {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  if (statSync(source).isDirectory()) mkdirSync(path);
  else writeFileSync(path, '');
}

/** Ends all programs of all stages. Their mounts end with them. */
export async function endStagePrograms() {
  for (const child of running) child.kill('SIGKILL');
  await until(() => running.size === 0, 10_000);
}

/**
 * Process id of the program that a child of `start` runs; null before it runs.
 * @param {number | undefined} unsharePid
 */
export function stageProgramPid(unsharePid) {
  try {
    const children = readFileSync(`/proc/${unsharePid}/task/${unsharePid}/children`, 'utf8').trim();
    return children === '' ? null : Number(children.split(' ')[0]);
  } catch {
    return null;
  }
}
