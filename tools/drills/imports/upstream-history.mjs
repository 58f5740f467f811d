/** Commits of the upstream repositories of the drills of imports. */
import { spawn } from 'node:child_process';
import { COMMITS, pullRequestFilePath, FROM, PULLS, range } from './upstreams.mjs';

/**
 * Adds commits to a bare repository with one commit: a long history of `main`, and on its tip one commit for each pull
 * request. Resolves to the tip and to the heads of the pull requests.
 * @param {import('./upstreams.mjs').Upstream} upstream
 * @param {string} bare
 */
export async function addHistory(upstream, bare) {
  const { git } = upstream.host;
  const history = range(COMMITS - 1).map((n) =>
    renderFastImportCommit(
      'refs/heads/main',
      { n, title: `Commit ${n + 1}`, file: `files/${n + 1}.txt` },
      n === 0 ? 'main^0' : null,
    ),
  );
  const heads = range(PULLS).map((n) =>
    renderFastImportCommit(
      upstream.headOf(n),
      { n: COMMITS + n, title: `Pull ${n}`, file: pullRequestFilePath(n) },
      'main',
    ),
  );
  await runWithInput('git', ['-C', bare, 'fast-import', '--quiet'], [...history, ...heads].join(''));
  const refs = ['refs/heads/main', ...range(PULLS).map((n) => upstream.headOf(n))];
  const ids = await git.ok('.', '--git-dir', bare, 'rev-parse', ...refs);
  const [base = '', ...shas] = ids.trim().split('\n');
  return { base, heads: shas };
}

/**
 * A commit in the format of `git fast-import`, which adds one file with one line.
 * @param {string} ref
 * @param {{ n: number, title: string, file: string }} commit
 * @param {string | null} from  the branch of its parent; null for the commit before it
 */
function renderFastImportCommit(ref, { n, title, file }, from) {
  const time = Math.floor(FROM / 1000) + n;
  const content = `${title}\n`;
  const parent = from === null ? '' : `from refs/heads/${from}\n`;
  return `commit ${ref}\ncommitter Wren <wren@example.org> ${time} +0000\ndata ${title.length}\n${title}\n${parent}M 100644 inline ${file}\ndata ${content.length}\n${content}\n`;
}

/**
 * Runs a program with an input. Errors: a plain Error if it fails.
 * @param {string} program
 * @param {string[]} words
 * @param {string} input
 */
async function runWithInput(program, words, input) {
  const child = spawn(program, words, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}`);
}
