/** The file that ROOKERY_SEED names: YAML of the form seed.schema.json. Messages name file, line and field, and never a value. */
import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import Ajv from 'ajv';
import { LineCounter, parseDocument } from 'yaml';

const MOST_BYTES = 4 * 1024 * 1024;
const schema = JSON.parse(readFileSync(new URL('./seed.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

/**
 * Answers `{ name, users, groups, projects, place(path) }`, each a list; `place(['users', 0, 'email'])` is `seed.yaml:4:
 * users[0].email`. Errors: a plain Error that lists what is wrong.
 */
export function readSeed(path) {
  // npm runs its scripts in the clone, wherever it was called.
  const file = resolve(process.env.INIT_CWD ?? '', path);
  const name = basename(file);
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), { lineCounter: lines, prettyErrors: false, strict: true });
  const lineAt = (offset) => lines.linePos(offset).line;
  // A message of the parser may repeat what stands there, and a token may stand there.
  const broken = document.errors.map((error) => `${name}:${lineAt(error.pos[0])}: is no YAML: ${error.code}`);
  if (broken.length > 0) throw new Error(broken.join('\n'));
  const place = (path) => `${name}:${lineAt(offsetOf(document, path))}: ${inWords(path)}`;
  let seed;
  try {
    seed = document.toJS() ?? {};
  } catch {
    throw new Error(`${name}: holds an alias that leads nowhere or too far`);
  }
  const problems = [...formProblems(seed), ...doubles(seed)];
  if (problems.length > 0)
    throw new Error([...new Set(problems.map(({ path, message }) => `${place(path)} ${message}`))].join('\n'));
  return { name, users: [], groups: [], projects: [], ...seed, place };
}

function textOf(file) {
  try {
    if (statSync(file).size <= MOST_BYTES) return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`ROOKERY_SEED names ${file}, which cannot be read: ${error.code}`);
  }
  throw new Error(`ROOKERY_SEED names ${file}, which has more than ${MOST_BYTES / 1024 / 1024} MiB`);
}

function formProblems(seed) {
  if (validate(seed)) return [];
  return validate.errors
    .filter(({ keyword }) => keyword !== 'allOf' && keyword !== 'dependencies')
    .concat(validate.errors.filter(({ keyword }) => keyword === 'dependencies'))
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

/** What the API would refuse or mix up only later, in words that name a line. */
function doubles({ users, groups, projects }) {
  const seen = new Map();
  const problems = [];
  const look = (list, field, what) => {
    for (const [index, one] of (Array.isArray(list) ? list : []).entries()) {
      if (typeof one?.[field] !== 'string') continue;
      const key = `${what} ${one[field].toLowerCase()}`;
      const path = [what, index, field];
      if (seen.has(key)) problems.push({ path, message: `is that of ${inWords(seen.get(key))} too` });
      else seen.set(key, path);
    }
  };
  look(users, 'username', 'users');
  look(groups, 'path', 'groups');
  look(projects, 'path', 'projects');
  const tokens = new Map();
  for (const [index, user] of (Array.isArray(users) ? users : []).entries()) {
    if (typeof user?.token !== 'string') continue;
    const path = ['users', index, 'token'];
    if (tokens.has(user.token)) problems.push({ path, message: `is that of ${inWords(tokens.get(user.token))} too` });
    else tokens.set(user.token, path);
  }
  return problems;
}

/** Of the field, or of the nearest thing around it that is there. */
function offsetOf(document, path) {
  for (let length = path.length; length > 0; length--) {
    const parent = length > 1 ? document.getIn(path.slice(0, length - 1), true) : document.contents;
    const key = path[length - 1];
    const pair = parent?.items?.find((item) => item?.key?.value === key);
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (node?.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function inWords(path) {
  return (
    path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${part}`)).join('') ||
    'the file'
  );
}
