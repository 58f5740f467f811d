/**
 * An estate with a user for benchmarks of repositories, and git on the side of the client.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {{ estate: Estate, post: import('./writer.mjs').Post, folder: string, token: string, headers: Record<string, string>, pids: number[] }} Place
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { WITHOUT_RATES } from '../processes/environment.mjs';
import { startEstate } from '../processes/estate.mjs';
import { freePort } from '../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { writerOf } from './writer.mjs';

/** Starts an estate. `pids` are all of its processes. @returns {Promise<Place>} */
export async function startGitBenchEstate() {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: WITHOUT_RATES });
  const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-git-'));
  const { supervisor: _, ...stack } = estate.pids;
  const { token } = estate;
  const headers = { 'private-token': token };
  return { estate, post: writerOf(estate), folder, token, headers, pids: Object.values(stack) };
}

/** @param {Place} place */
export async function endGitPlace({ estate, folder }) {
  rmSync(folder, { recursive: true, force: true });
  await estate.stop();
  await estate.discard();
}

/**
 * Runs git, as a client or on files. Resolves to its output. Errors: an exit status other than 0.
 * @param {string} folder
 * @param {string[]} words
 * @param {Iterable<string>} [input]
 * @returns {Promise<string>}
 */
export async function git(folder, words, input = []) {
  const env = {
    ...{ PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
    ...{ GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@mail.example' },
    ...{ GIT_COMMITTER_NAME: 'Bench', GIT_COMMITTER_EMAIL: 'bench@mail.example' },
  };
  const child = spawn('git', words, { cwd: folder, env });
  /** @type {Buffer[]} */
  const output = [];
  let errors = '';
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = new Promise((resolve) => void child.once('close', resolve));
  child.stdin.on('error', () => {});
  Readable.from(input).pipe(child.stdin);
  const code = await ended;
  if (code !== 0) throw new Error(`git ${words[0]} ended with ${code}: ${errors}`);
  return Buffer.concat(output).toString();
}

/**
 * Address of a repository, with the credential of the user.
 * @param {Place} place
 * @param {string} path
 */
export const gitUrlWithToken = ({ estate, token }, path) =>
  `${estate.baseUrl.replace('://', `://oauth2:${token}@`)}/${path}.git`;

/** @param {number[]} values */
export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
