/** The check of citations and links finds those without a target, and no others. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { citationProblemsIn } from '../citations.mjs';

const PAGES = {
  'docs/adr/0040-levels.md': '# 0040 Levels\n',
  'docs/adr/0041-log.md': '# 0041 Log\n',
  'docs/adr/0042-late.md': '# 0042 Late (replaced by ADR 0041)\n',
  'docs/reference/work-tracking.md': '# Work\n\n## 2. Notes\n\n### 2.4 Internal notes\n\n| 0.8 | a row |\n',
  'docs/requirements.md':
    '# Promises\n\n### 1 §2 Shapes\nA **note** is a text.\n\n### 1 §4 Endpoints\n- **Issue notes**: five.\n',
  'docs/architecture.md': '# Architecture\n\n## 5. Rows, values and locks\n',
};

/** @type {string[]} */
const folders = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/**
 * Problems of a repository with the pages above and these files.
 * @param {Record<string, string>} files
 */
function problemsWith(files) {
  const root = mkdtempSync(join(tmpdir(), 'rookery-citations-'));
  folders.push(root);
  for (const [name, text] of Object.entries({ ...PAGES, ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return citationProblemsIn(root);
}

/** @param {string} comment */
const inCode = (comment) => problemsWith({ 'libs/kernel/src/nest.ts': `/** ${comment} */\nexport const nest = 1;\n` });

describe('citations in code', () => {
  const valid = [
    'Source: ADR 0040.',
    'Source: ADR 0040, 0041; reference work-tracking 2.4.',
    'Source: reference work-tracking 0.8, 2 (the second part); requirements 1 §2 Note, §4 Issue notes.',
    'Source: docs/architecture.md 5; ADR 0040\n * and ADR 0041.',
    'Counts as reference work-tracking\n * 2.4 says. Source: requirements 1 §4.',
    'Two decisions of 3 people, and 5 references.',
  ];
  for (const comment of valid) {
    it(`accepts: ${comment.replaceAll('\n', ' ')}`, () => assert.deepEqual(inCode(comment), []));
  }

  /** @type {[name: string, comment: string, problem: string][]} */
  const invalid = [
    ['a missing decision', 'Source: ADR 0099.', 'there is no ADR 0099'],
    ['a missing decision in prose', 'As ADR 0099 says.', 'there is no ADR 0099'],
    ['a replaced decision', 'Source: ADR 0042.', 'ADR 0042 was replaced by ADR 0041'],
    ['a missing section', 'Source: reference work-tracking 2.9.', 'docs/reference/work-tracking.md has no section 2.9'],
    ['a missing section behind others', 'See reference work-tracking 2.4, 7.1.', 'has no section 7.1'],
    [
      'an area whose page is missing',
      'Source: reference reliability 2.1.',
      'there is no docs/reference/reliability.md',
    ],
    ['an unknown area', 'Source: reference snippets 2.1.', '"reference snippets 2.1" is no known form'],
    ['an unknown area in prose', 'As reference snippets 2.1 says.', 'looks like a citation'],
    ['a missing requirement', 'Source: requirements 1 §7.', 'docs/requirements.md has no section 1 §7'],
    ['a missing resource', 'Source: requirements 1 §4 Epics.', 'does not mention "Epics" in 1 §4'],
    ['a missing page', 'Source: docs/stack.md 3.', 'there is no docs/stack.md'],
    ['a document outside', 'Source: architecture 5.2; ADR 0040.', '"architecture 5.2; ADR 0040" is no known form'],
    ['a document outside in prose', 'Rests on houses II.8 and on nothing else.', '"houses II.8" looks like a citation'],
    ['a document outside behind others', 'Source: ADR 0040; performance, learnt 2.', 'is no known form'],
    ['a citation that is split over lines', 'Source: ADR 0040,\n * 0099.', 'there is no ADR 0099'],
    ['words instead of a citation', 'Source: it was always so.', 'is no known form'],
  ];
  for (const [name, comment, problem] of invalid) {
    it(`finds ${name}`, () => {
      const [first = '', ...others] = inCode(comment);
      assert.deepEqual(others, []);
      assert.match(first, /^libs\/kernel\/src\/nest\.ts:\d+: /);
      assert.ok(first.includes(problem), first);
    });
  }

  for (const name of ['tools/nest.mjs', 'apps/identity/src/nest.sql', 'deploy/base/nest.yaml', 'docs/nest.md']) {
    it(`finds them in ${name}`, () => {
      const [found] = problemsWith({ [name]: `${name.endsWith('.md') ? '' : '# '}As ADR 0099 says.\n` });
      assert.equal(found, `${name}:1: there is no ADR 0099`);
    });
  }

  it('finds two decisions with the same number', () => {
    assert.deepEqual(problemsWith({ 'docs/adr/0041-other.md': '# 0041 Other\n' }), [
      'docs/adr/0041-other.md: another decision has this number',
    ]);
  });

  it('permits decisions to cite those that they replaced', () => {
    assert.deepEqual(problemsWith({ 'docs/adr/0041-log.md': '# 0041 Log\n\nReplaces ADR 0042.\n' }), []);
  });
});

describe('links', () => {
  it('to existing files and headings pass', () => {
    const page =
      'See [rows](architecture.md#5-rows-values-and-locks), [here](#nests), `[no](link)`, [out](https://a.example).\n\n## Nests\n';
    assert.deepEqual(problemsWith({ 'docs/nest.md': page }), []);
  });

  it('to a missing file are found', () => {
    assert.deepEqual(problemsWith({ 'docs/nest.md': 'One\n\n[two](nests.md)\n' }), [
      'docs/nest.md:3: the link to nests.md has no target',
    ]);
  });

  it('to a missing heading are found', () => {
    assert.deepEqual(problemsWith({ 'docs/nest.md': '[one](architecture.md#eggs)\n' }), [
      'docs/nest.md:1: docs/architecture.md has no heading #eggs',
    ]);
  });
});

describe('sources of routes', () => {
  /** @param {string} cited */
  const routes = (cited) => problemsWith({ 'docs/routes.tsv': `service\trequirement\tnote\nidentity\t${cited}\t-\n` });
  /** @param {string} source */
  const served = (source) =>
    problemsWith({
      'apps/gateway/openapi.json': JSON.stringify({ paths: { '/a': { get: { 'x-rookery-source': source } } } }),
    });

  for (const cited of ['requirements 1 §4 Issue notes', 'to come', 'requirements 1 §4; to come: work-tracking 9.6']) {
    it(`accepts in the inventory: ${cited}`, () => assert.deepEqual(routes(cited), []));
  }

  it('are found in the inventory if they have no target', () => {
    assert.deepEqual(routes('to come; reference work-tracking 9.6'), [
      'docs/routes.tsv:2: docs/reference/work-tracking.md has no section 9.6',
    ]);
    assert.equal(routes('to come: snippets 9.6').length, 1);
    assert.equal(routes('issue identity item 6').length, 1);
  });

  it('are found in endpoints if they have no target', () => {
    assert.deepEqual(served('requirements 1 §4 Issue notes; ADR 0040'), []);
    assert.equal(served('decisions 6').length, 1);
    assert.equal(served('ADR 0099').length, 1);
  });
});
