/**
 * The order of spec files in a run that may be ended early: those that changed in the last day, then those without a
 * service in front of them, which are quick, then the API specs. The last two have an order that differs from commit to
 * commit. Each file thus has its turn, and new work is always tested. Other runs have jest's order. The path of each file
 * of the run is written to the file `TEST_LIST`.
 */
const { createHash } = require('node:crypto');
const { execFileSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { relative, join } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const ROOT = join(__dirname, '../..');
const RECENT_SECONDS = 86_400;

module.exports = class SpecOrder extends Sequencer {
  /** @type {import('@jest/test-sequencer').default['sort']} */
  async sort(tests) {
    const list = process.env['TEST_LIST'];
    if (list === undefined) return super.sort(tests);
    const byLength = await super.sort(tests);
    const { commit, changed } = findRecentChanges();
    /** @param {{ path: string }} test */
    const nameOf = ({ path }) => relative(ROOT, path).replaceAll('\\', '/');
    /** @param {{ path: string }} test */
    const rank = (test) => {
      const name = nameOf(test);
      if (changed.has(name)) return '';
      const hash = createHash('sha256').update(`${commit} ${name}`).digest('hex');
      return `${name.endsWith('.api-spec.ts') ? 'later' : 'early'} ${hash}`;
    };
    const ranked = byLength.map((test) => ({ test, rank: rank(test) }));
    // Changed files have the same rank, so they keep jest's order: the longest first.
    ranked.sort((a, b) => Number(a.rank > b.rank) - Number(a.rank < b.rank));
    const ordered = ranked.map(({ test }) => test);
    writeFileSync(list, JSON.stringify(ordered.map(nameOf)));
    return ordered;
  }
};

/** The newest commit, and the files that changed within the day before it. */
function findRecentChanges() {
  /** @param {string[]} words */
  const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 27 });
  const [commit = '', at = '0'] = git('log', '-1', '--format=%H %ct').trim().split(' ');
  const since = `--since=${Number(at) - RECENT_SECONDS}`;
  return { commit, changed: new Set(git('log', since, '--name-only', '--format=').split('\n')) };
}
