/** Files, commands, decisions and versions of packages in hand-written documents exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['apps', 'libs', 'tools', 'docs', 'deploy'];
/** The sample resource of the recipes, and files that only a running estate has. */
const EXAMPLES = /(^|[/.])pins?([/.]|$)|^\.rookery\/|^\/|[<>*…{}]/;

const files = [...readdirSync(root), ...FOLDERS.flatMap((folder) => filesBelow(folder))].map((name) =>
  name.replaceAll('\\', '/'),
);
const documents = files.filter((file) =>
  /^(README|CONTRIBUTING)\.md$|^docs\/(recipes\/)?[a-z-]+\.md$|^docs\/adr\/README\.md$|^apps\/[a-z]+\/README\.md$/.test(
    file,
  ),
);

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return ['node_modules', 'dist'].includes(entry.name) ? [] : [`${path}/`, ...filesBelow(path)];
  });
}

const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** @type {Record<string, string>} */
const packages = { ...dependencies, ...devDependencies };
/** @param {string} file */
const read = (file) => readFileSync(join(root, file), 'utf8');
/** @param {string} path */
const exists = (path) =>
  files.some((file) => file === path || file.endsWith(`/${path}`)) || existsSync(join(root, path));

describe('documents', () => {
  it('CONTRIBUTING.md has at most 8 KB; details belong into docs/', () => {
    assert.ok(Buffer.byteLength(read('CONTRIBUTING.md')) <= 8 * 1024);
  });

  for (const document of documents) {
    const text = read(document);

    it(`${document} names the versions of packages that are installed`, () => {
      const named = [...text.matchAll(/(?<=[ (])(@?[a-z][a-z/-]*)@(\d+(?:\.\d+){2})\b/g)];
      const others = named.filter(([, name = '', version]) => (packages[name] ?? version) !== version);
      assert.deepEqual(
        others.map(([text]) => text),
        [],
      );
    });

    it(`${document} names files that exist`, () => {
      const spans = [...text.matchAll(/`([\w./-]+(?:\/|\.(?:ts|mjs|cjs|md|tsv|json|yml|yaml)))`/g)].map(
        ([, span = '']) => span,
      );
      const named = spans.filter((span) => !span.startsWith('.') && !EXAMPLES.test(span));
      assert.deepEqual([...new Set(named.filter((span) => !exists(span)))], []);
    });

    it(`${document} links to existing files`, () => {
      const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
      const local = links.filter((link) => !/^[a-z]+:/.test(link));
      assert.deepEqual(
        local.filter((link) => !existsSync(join(root, dirname(document), link))),
        [],
      );
    });

    it(`${document} cites existing decisions`, () => {
      const cited = [...text.matchAll(/\bADR (\d{4})/g)].map(([, number]) => `docs/adr/${number}-`);
      assert.deepEqual(
        cited.filter((start) => !files.some((file) => file.startsWith(start))),
        [],
      );
    });

    it(`${document} names commands of package.json`, () => {
      const { scripts } = JSON.parse(read('package.json'));
      const named = [...text.matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, name = '']) => name);
      assert.deepEqual(
        named.filter((name) => !(name in scripts)),
        [],
      );
    });
  }
});
