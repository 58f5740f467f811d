/**
 * Compiles changed sources of all libraries and applications, `src/**.ts` to `dist/**.js`, in one process with the
 * settings of `.swcrc`. Content hashes of the last build are kept, so a build without changes only checks the files.
 *
 *   node tools/processes/build.mjs
 *
 * @typedef {{ mtimeMs: number, size: number, hash: string, schema: boolean }} SourceState
 * @typedef {Record<string, SourceState>} SourceStates  by path from the root
 * @typedef {Record<string, string>} SchemaDigests  by package (`libs/directory`)
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
import { readRecord, withLock, writeRecord } from './process-records.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/rookery');
const MANIFEST = join(CACHE, 'build.json');

/**
 * Builds changed sources and removes the output of deleted ones. `built` is the number of written files, `changed` lists the
 * changed and deleted sources. `digests` has, for each package, a digest of the sources that mention migrations: while it is
 * unchanged, the schema is unchanged.
 * @returns {Promise<{ built: number, changed: string[], digests: SchemaDigests }>}
 */
export async function build() {
  mkdirSync(CACHE, { recursive: true });
  return withLock(join(CACHE, 'build.lock'), async () => {
    const settings = compilerSettingsDigest();
    const known = readRecord(MANIFEST);
    /** @type {SourceStates} */
    const before = known?.settings === settings ? known.files : {};
    /** @type {SourceStates} */
    const files = {};
    for (const source of listSources()) files[source] = sourceStateOf(source, before[source]);
    const stale = Object.entries(files)
      .filter(([file, { hash }]) => hash !== before[file]?.hash || !existsSync(outputPathOf(file)))
      .map(([file]) => file);
    await compileFiles(stale);
    const deleted = Object.keys(before).filter((file) => !files[file]);
    deleted.forEach(removeOutput);
    const changed = [...stale, ...deleted];
    if (changed.length > 0) writeRecord(MANIFEST, { settings, files });
    return { built: stale.length, changed, digests: schemaDigests(files) };
  });
}

function compilerSettingsDigest() {
  const compiler = readFileSync(join(ROOT, 'node_modules/@swc/core/package.json'), 'utf8');
  return createHash('sha256')
    .update(readFileSync(join(ROOT, '.swcrc')))
    .update(JSON.parse(compiler).version)
    .digest('hex');
}

/** Paths of all source files from the root, without specs. */
function listSources() {
  /** @type {string[]} */
  const found = [];
  for (const kind of ['libs', 'apps']) {
    for (const name of readdirSync(join(ROOT, kind)).sort()) {
      const folder = join(ROOT, kind, name, 'src');
      if (existsSync(folder)) collectFilesBelow(folder, found);
    }
  }
  return found.filter((file) => !/(\.spec|-spec|\.d)\.ts$/.test(file));
}

/**
 * @param {string} folder
 * @param {string[]} files
 */
function collectFilesBelow(folder, files) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) collectFilesBelow(path, files);
    else files.push(relative(ROOT, path));
  }
}

/**
 * Reads the content of a file only if its size or modification time has changed.
 * @param {string} source
 * @param {SourceState | undefined} previous
 * @returns {SourceState}
 */
function sourceStateOf(source, previous) {
  const { mtimeMs, size } = statSync(join(ROOT, source));
  if (previous?.mtimeMs === mtimeMs && previous.size === size) return previous;
  const content = readFileSync(join(ROOT, source));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { mtimeMs, size, hash, schema: /migration/i.test(`${source}\n${content}`) };
}

/** @param {string} source */
function outputPathOf(source) {
  const [kind, name, , ...rest] = source.split('/');
  return join(ROOT, kind ?? '', name ?? '', 'dist', ...rest).replace(/\.ts$/, '.js');
}

/** @param {string[]} files */
async function compileFiles(files) {
  if (files.length === 0) return;
  const { transform } = await import('@swc/core');
  const { $schema: _, ...settings } = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
  /** @type {string[]} */
  const problems = [];
  /** @param {string} file */
  const one = async (file) => {
    const target = outputPathOf(file);
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
      const { message } = /** @type {Error} */ (error);
      problems.push(`${file}: ${message.split('\n\nCaused by:')[0]?.trimEnd()}`);
    }
  };
  for (let at = 0; at < files.length; at += 64) await Promise.all(files.slice(at, at + 64).map(one));
  if (problems.length > 0) throw new Error(`The build failed:\n${problems.join('\n')}`);
}

/** @param {string} source */
function removeOutput(source) {
  rmSync(outputPathOf(source), { force: true });
  rmSync(`${outputPathOf(source)}.map`, { force: true });
}

/**
 * @param {SourceStates} files
 * @returns {SchemaDigests}
 */
function schemaDigests(files) {
  /** @type {Map<string, import('node:crypto').Hash>} */
  const hashes = new Map();
  for (const [file, { hash, schema }] of Object.entries(files)) {
    if (!schema) continue;
    const name = file.split('/').slice(0, 2).join('/');
    const digest = hashes.get(name) ?? createHash('sha256');
    hashes.set(name, digest.update(file).update(hash));
  }
  return Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest('hex').slice(0, 16)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const from = Date.now();
  const { built } = await build();
  console.log(`${built} files built in ${((Date.now() - from) / 1000).toFixed(1)} s`);
}
