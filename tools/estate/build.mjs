/**
 * Builds every library and application that changed: `src/**.ts` to `dist/**.js`, in one process, with the settings of
 * `.swcrc`. What was built is remembered by content, so a build without changes only looks at the files.
 *
 *   node tools/estate/build.mjs
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRecord, withLock, writeRecord } from './processes.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/rookery');
const MANIFEST = join(CACHE, 'build.json');

/**
 * Answers `{ built, digests }`: how many files were written, and for each package (`libs/directory`) a digest of those
 * sources that speak of migrations: while it is the same, no schema has changed.
 */
export async function build() {
  mkdirSync(CACHE, { recursive: true });
  return withLock(join(CACHE, 'build.lock'), async () => {
    const settings = settingsDigest();
    const known = readRecord(MANIFEST);
    const before = known?.settings === settings ? known.files : {};
    const files = {};
    for (const source of sources()) files[source] = look(source, before[source]);
    const stale = Object.keys(files).filter(
      (file) => files[file].hash !== before[file]?.hash || !existsSync(output(file)),
    );
    await compile(stale);
    for (const gone of Object.keys(before)) if (!files[gone]) remove(gone);
    if (stale.length > 0 || Object.keys(before).length !== Object.keys(files).length)
      writeRecord(MANIFEST, { settings, files });
    return { built: stale.length, digests: schemaDigests(files) };
  });
}

function settingsDigest() {
  const compiler = readFileSync(join(ROOT, 'node_modules/@swc/core/package.json'), 'utf8');
  return createHash('sha256')
    .update(readFileSync(join(ROOT, '.swcrc')))
    .update(JSON.parse(compiler).version)
    .digest('hex');
}

/** Paths of all source files from the root; specs are no part of a build. */
function sources() {
  const found = [];
  for (const kind of ['libs', 'apps']) {
    for (const name of readdirSync(join(ROOT, kind)).sort()) {
      const folder = join(ROOT, kind, name, 'src');
      if (existsSync(folder)) collect(folder, found);
    }
  }
  return found.filter((file) => !/(\.spec|-spec|\.d)\.ts$/.test(file));
}

function collect(folder, found) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) collect(path, found);
    else found.push(relative(ROOT, path));
  }
}

/** Content is read only when size or time of the last change differ from what is known. */
function look(source, known) {
  const { mtimeMs, size } = statSync(join(ROOT, source));
  if (known?.mtimeMs === mtimeMs && known.size === size) return known;
  const content = readFileSync(join(ROOT, source));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { mtimeMs, size, hash, schema: /migration/i.test(`${source}\n${content}`) };
}

function output(source) {
  const [kind, name, , ...rest] = source.split('/');
  return join(ROOT, kind, name, 'dist', ...rest).replace(/\.ts$/, '.js');
}

async function compile(files) {
  if (files.length === 0) return;
  const { transform } = await import('@swc/core');
  const { $schema: _, ...settings } = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
  const problems = [];
  const one = async (file) => {
    const target = output(file);
    mkdirSync(dirname(target), { recursive: true });
    if (!file.endsWith('.ts')) return copyFileSync(join(ROOT, file), target);
    try {
      const options = { ...settings, swcrc: false, filename: join(ROOT, file) };
      const { code, map } = await transform(readFileSync(join(ROOT, file), 'utf8'), {
        ...options,
        sourceFileName: relative(dirname(target), join(ROOT, file)),
      });
      writeFileSync(target, `${code}\n//# sourceMappingURL=${target.split('/').at(-1)}.map\n`);
      if (map) writeFileSync(`${target}.map`, map);
    } catch (error) {
      problems.push(`${file}: ${error.message}`);
    }
  };
  for (let at = 0; at < files.length; at += 64) await Promise.all(files.slice(at, at + 64).map(one));
  if (problems.length > 0) throw new Error(`The build failed:\n${problems.join('\n')}`);
}

function remove(source) {
  rmSync(output(source), { force: true });
  rmSync(`${output(source)}.map`, { force: true });
}

function schemaDigests(files) {
  const hashes = new Map();
  for (const [file, { hash, schema }] of Object.entries(files)) {
    if (!schema) continue;
    const name = file.split('/').slice(0, 2).join('/');
    if (!hashes.has(name)) hashes.set(name, createHash('sha256'));
    hashes.get(name).update(file).update(hash);
  }
  return Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest('hex').slice(0, 16)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const from = Date.now();
  const { built } = await build();
  console.log(`${built} files built in ${((Date.now() - from) / 1000).toFixed(1)} s`);
}
