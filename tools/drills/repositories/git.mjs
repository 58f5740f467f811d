/**
 * git as a client of the drills, its processes, and the folders of repositories.
 *
 * @import { Estate } from '../../processes/estate.mjs'
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const WITHIN_MS = 60_000;

/**
 * Folder of the repository of a project.
 * @param {Estate} estate
 * @param {number} project
 */
export function repositoryFolderOf({ repositories }, project) {
  const digest = createHash('sha256').update(String(project)).digest('hex');
  return join(repositories, '@hashed', digest.slice(0, 2), digest.slice(2, 4), `${digest}.git`);
}

/**
 * Address of a repository with the credential of a user.
 * @param {string} baseUrl
 * @param {string} path
 * @param {{ token: string }} person
 */
export function repositoryUrlWithToken(baseUrl, path, { token }) {
  const url = new URL(`${baseUrl}/${path}.git`);
  [url.username, url.password] = ['oauth2', token];
  return url.href;
}

/**
 * Runs git. Returns its exit code, and both outputs as one text.
 * @param {string} folder
 * @param {string[]} words
 * @param {{ withinMs?: number, onStart?: (child: import('node:child_process').ChildProcess) => void }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export async function git(folder, words, { withinMs = WITHIN_MS, onStart = () => {} } = {}) {
  const people = { GIT_AUTHOR_NAME: 'Drill', GIT_COMMITTER_NAME: 'Drill' };
  const mails = { GIT_AUTHOR_EMAIL: 'drill@mail.example', GIT_COMMITTER_EMAIL: 'drill@mail.example' };
  const child = spawn('git', words, {
    cwd: folder,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
      ...{ ...people, ...mails },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onStart(child);
  let output = '';
  const add = (/** @type {Buffer} */ part) => void (output += part);
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearTimeout(timer);
  return { code: code ?? 1, output };
}

/**
 * All processes of this machine by id.
 * @typedef {Map<number, { parent: number, name: string }>} Processes
 * @returns {Processes}
 */
export function allProcesses() {
  /** @type {Processes} */
  const processes = new Map();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name = '', parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? [];
      processes.set(Number(entry), { parent: Number(parent), name });
    } catch {
      // The process has ended.
    }
  }
  return processes;
}

/**
 * Runs git. Errors: its output, if it fails.
 * @param {string} folder
 * @param {string[]} words
 */
export async function runGitOrThrow(folder, words) {
  const { code, output } = await git(folder, words);
  if (code !== 0) throw new Error(`git ${words[0]}: ${output}`);
}

/**
 * Returns the ids of the processes of git among the descendants of a process. `except` are words of commands that do
 * not count.
 * @param {number} root
 * @param {string[]} [except]
 * @param {Processes} [processes]
 * @returns {number[]}
 */
export function gitProcessesBelow(root, except = [], processes = allProcesses()) {
  const isBelow = (/** @type {number} */ pid) => {
    for (let at = processes.get(pid); at; at = processes.get(at.parent)) if (at.parent === root) return true;
    return false;
  };
  const isCounted = (/** @type {number} */ pid) =>
    except.length === 0 || !except.some((word) => commandOf(pid).includes(word));
  return [...processes]
    .filter(([pid, { name }]) => name.startsWith('git') && isBelow(pid) && isCounted(pid))
    .map(([pid]) => pid);
}

/**
 * Command line of a process; empty if it has ended.
 * @param {number} pid
 */
export function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
