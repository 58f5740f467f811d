/**
 * Reads the seed file that ROOKERY_SEED names: YAML that matches seed.schema.json. Error messages contain the file, line and
 * field, but no value.
 *
 * @typedef {(string | number)[]} Path
 * @typedef {{ username: string, access_level: string | number, expires_at?: string }} SeedMember
 * @typedef {{ username: string, name?: string, email?: string, admin?: boolean, external?: boolean, token?: string,
 *   scopes?: string[] }} SeedUser
 * @typedef {{ path: string, name?: string, members?: SeedMember[] }} SeedGroup
 * @typedef {{ title: string, author?: string, assignees?: string[], labels?: string[], state?: string }} SeedIssue
 * @typedef {SeedGroup & { issues?: SeedIssue[] }} SeedProject
 * @typedef {{ name: string, users: SeedUser[], groups: SeedGroup[], projects: SeedProject[],
 *   place(path: Path): string }} Seed
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { LineCounter, parseDocument } from 'yaml';

const MOST_BYTES = 4 * 1024 * 1024;
const schema = JSON.parse(readFileSync(new URL('./seed.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

/**
 * Reads and validates a seed file. `place(['users', 0, 'email'])` returns `seed.yaml:4: users[0].email`.
 * Errors: a plain Error that lists all problems.
 * @param {string} path
 * @returns {Seed}
 */
export function readSeed(path) {
  // npm runs its scripts in the clone; INIT_CWD is the folder from which it was called.
  const file = resolve(process.env.INIT_CWD ?? '', path);
  const name = basename(file);
  const lines = new LineCounter();
  const document = parseDocument(readSeedText(file), { lineCounter: lines, prettyErrors: false, strict: true });
  /** @param {number} offset */
  const lineAt = (offset) => lines.linePos(offset).line;
  // The parser's own messages may quote the file, which may contain a token.
  const broken = document.errors.map((error) => `${name}:${lineAt(error.pos[0])}: is no YAML: ${error.code}`);
  if (broken.length > 0) throw new Error(broken.join('\n'));
  /** @param {Path} path */
  const place = (path) => `${name}:${lineAt(offsetInDocument(document, path))}: ${describePath(path)}`;
  let seed;
  try {
    seed = document.toJS() ?? {};
  } catch {
    throw new Error(`${name}: holds an alias that leads nowhere or too far`);
  }
  const problems = [...schemaProblems(seed), ...findDuplicates(seed)];
  if (problems.length > 0)
    throw new Error([...new Set(problems.map(({ path, message }) => `${place(path)} ${message}`))].join('\n'));
  return { name, users: [], groups: [], projects: [], ...seed, place };
}

/** @param {string} file */
function readSeedText(file) {
  try {
    if (statSync(file).size <= MOST_BYTES) return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(
      `ROOKERY_SEED names ${file}, which cannot be read: ${/** @type {NodeJS.ErrnoException} */ (error).code}`,
    );
  }
  throw new Error(`ROOKERY_SEED names ${file}, which has more than ${MOST_BYTES / 1024 / 1024} MiB`);
}

/**
 * @param {unknown} seed
 * @returns {{ path: Path, message: string | undefined }[]}
 */
function schemaProblems(seed) {
  if (validate(seed)) return [];
  const errors = validate.errors ?? [];
  return errors
    .filter(({ keyword }) => keyword !== 'allOf' && keyword !== 'dependencies')
    .concat(errors.filter(({ keyword }) => keyword === 'dependencies'))
    .map(({ instancePath, keyword, params, message }) => {
      const path = instancePath
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
        .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      if (keyword === 'additionalProperties')
        return { path: [...path, params.additionalProperty], message: 'is not known' };
      if (keyword === 'required') return { path: [...path, params.missingProperty], message: 'is missing' };
      if (keyword === 'enum') return { path, message: `is none of ${params.allowedValues.join(', ')}` };
      return { path, message };
    });
}

/**
 * Finds duplicate names, paths and tokens, which the API would refuse only later and without a line.
 * @param {Record<string, unknown>} seed
 */
function findDuplicates({ users, groups, projects }) {
  /** @type {Map<string, Path>} */
  const seen = new Map();
  /** @type {{ path: Path, message: string }[]} */
  const problems = [];
  /** @type {(list: unknown, field: string, name: string) => void} */
  const checkUnique = (list, field, name) => {
    for (const [index, one] of (Array.isArray(list) ? list : []).entries()) {
      if (typeof one?.[field] !== 'string') continue;
      const key = `${name} ${one[field].toLowerCase()}`;
      const path = [name, index, field];
      const known = seen.get(key);
      if (known) problems.push({ path, message: `is also that of ${describePath(known)}` });
      else seen.set(key, path);
    }
  };
  checkUnique(users, 'username', 'users');
  checkUnique(groups, 'path', 'groups');
  checkUnique(projects, 'path', 'projects');
  const tokens = new Map();
  for (const [index, user] of (Array.isArray(users) ? users : []).entries()) {
    if (typeof user?.token !== 'string') continue;
    const path = ['users', index, 'token'];
    if (tokens.has(user.token))
      problems.push({ path, message: `is also that of ${describePath(tokens.get(user.token))}` });
    else tokens.set(user.token, path);
  }
  return problems;
}

/**
 * Offset of a field in the document, or of the nearest existing node around it.
 * @param {import('yaml').Document.Parsed<any>} document
 * @param {Path} path
 * @returns {number}
 */
function offsetInDocument(document, path) {
  for (let length = path.length; length > 0; length--) {
    /** @type {any} */
    const parent = length > 1 ? document.getIn(path.slice(0, length - 1), true) : document.contents;
    const key = path[length - 1];
    const pair = parent?.items?.find((/** @type {any} */ item) => item?.key?.value === key);
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (node?.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

/** @param {Path} path */
function describePath(path) {
  return (
    path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${part}`)).join('') ||
    'the file'
  );
}
