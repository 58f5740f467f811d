import { lengthProblems } from '@rookery/kernel';

/**
 * Rules for names and paths. Each function returns the problems as API error messages; an empty list means that the
 * value is valid. Source: reference identity-and-import 2.10.
 */
const NAMESPACE_PATH = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;
const NAMESPACE_PATH_END = /(\.|\.git|\.atom)$/i;
const PROJECT_PATH_END = /(\.git|\.atom)$/i;
const EMOJI = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Regional_Indicator}\\u200d\\ufe0f';
const PROJECT_NAME = new RegExp(`^[\\p{L}\\p{N}${EMOJI}_][\\p{L}\\p{N}\\p{M}\\p{Pd}${EMOJI}_. +]*$`, 'u');
const GROUP_NAME = new RegExp(`^[\\p{L}\\p{N}${EMOJI}_][\\p{L}\\p{N}\\p{M}\\p{Pd}${EMOJI}_. ()]*$`, 'u');

const MAX_LENGTH = 255;
/** Longest full path of a subgroup: a full path with a project fits into an entry of an index. Units: characters. */
const MAX_FULL_PATH = 2400;
export const MAX_NESTING = 20;

const RESERVED_TOP_LEVEL = new Set(
  (
    '- .well-known 404.html 422.html 500.html 502.html 503.html admin api apple-touch-icon.png assets dashboard ' +
    'deploy.html explore favicon.ico favicon.png files groups health_check help import jwt login oauth profile ' +
    'projects public robots.txt s search sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets ' +
    'unsubscribes uploads users v2'
  ).split(' '),
);
/** Words with a meaning below a project's path. Those with a slash can only result from nesting. */
const RESERVED_BELOW = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(
    ' ',
  ),
);
const RESERVED_PAIRS = new Set(['environments/folders', 'gitlab-lfs/objects', 'info/lfs/objects']);

const NAMESPACE_PATH_MESSAGE =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";
const PROJECT_PATH_MESSAGE =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";
const PROJECT_NAME_MESSAGE =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.";
const GROUP_NAME_MESSAGE =
  "can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.";

export const TAKEN = 'has already been taken';
export const TOO_DEEP = 'has too deep level of nesting';
export const TOO_LONG_WITH_PARENTS = `is too long (maximum is ${MAX_FULL_PATH} characters with its parents)`;

function nameOrPathLengthProblems(text: string, min: number): string[] {
  if (text === '') return ["can't be blank"];
  return text.length < min ? [`is too short (minimum is ${min} characters)`] : lengthProblems(text, MAX_LENGTH);
}

/** Problems of the path of a top-level group, or of a username: both share one namespace. */
export function topLevelPathProblems(path: string): string[] {
  return [
    ...groupPathSyntaxProblems(path),
    ...(RESERVED_TOP_LEVEL.has(path.toLowerCase()) ? [`${path} is a reserved name`] : []),
  ];
}

/** Problems of the path of a subgroup below the group with that full path. */
export function subgroupPathProblems(path: string, parentFullPath: string): string[] {
  const isTooLong = parentFullPath.length + 1 + path.length > MAX_FULL_PATH;
  return [
    ...groupPathSyntaxProblems(path),
    ...reservedPathProblems(path, parentFullPath),
    ...(isTooLong ? [TOO_LONG_WITH_PARENTS] : []),
  ];
}

function groupPathSyntaxProblems(path: string): string[] {
  const length = nameOrPathLengthProblems(path, 2);
  if (path === '') return length;
  return NAMESPACE_PATH.test(path) && !NAMESPACE_PATH_END.test(path) ? length : [...length, NAMESPACE_PATH_MESSAGE];
}

export function projectPathProblems(path: string, namespaceFullPath: string): string[] {
  const length = nameOrPathLengthProblems(path, 1);
  if (path === '') return length;
  const shape = isValidProjectPath(path) ? [] : [PROJECT_PATH_MESSAGE];
  return [...length, ...shape, ...reservedPathProblems(path, namespaceFullPath)];
}

function isValidProjectPath(path: string): boolean {
  return NAMESPACE_PATH.test(path) && !PROJECT_PATH_END.test(path) && path !== '.' && path !== '..';
}

function reservedPathProblems(path: string, parentFullPath: string): string[] {
  const key = path.toLowerCase();
  const tail = `${parentFullPath.toLowerCase()}/${key}`.split('/');
  const pairs = [tail.slice(-2).join('/'), tail.slice(-3).join('/')];
  return RESERVED_BELOW.has(key) || pairs.some((pair) => RESERVED_PAIRS.has(pair))
    ? [`${path} is a reserved name`]
    : [];
}

export function projectNameProblems(name: string): string[] {
  const length = nameOrPathLengthProblems(name, 1);
  return name === '' || PROJECT_NAME.test(name) ? length : [...length, PROJECT_NAME_MESSAGE];
}

export function groupNameProblems(name: string): string[] {
  const length = nameOrPathLengthProblems(name, 1);
  return name === '' || GROUP_NAME.test(name) ? length : [...length, GROUP_NAME_MESSAGE];
}

/** Derives the path of a project from its name: the name itself if it is a valid path, else a slug of it. */
export function projectPathFrom(name: string): string {
  if (isValidProjectPath(name)) return name;
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '');
}

/**
 * Formats problems by field in the notation that clients of group creation expect: `{:path=>["has already been
 * taken"]}`.
 */
export function formatProblemsAsRubyHash(problems: Readonly<Record<string, readonly string[]>>): string {
  const entries = Object.entries(problems).map(
    ([field, texts]) => `:${field}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`,
  );
  return `{${entries.join(', ')}}`;
}

/**
 * Derives the beginning of a path from a text: the part before `@`, without invalid characters and suffixes. Source:
 * reference identity-and-import 3.
 */
export function cleanNamespacePath(text: string): string {
  const cleaned = text
    .replace(/@.*$/s, '')
    .replace(/(\.git|\.atom)$/i, '')
    .replace(/^-+/, '')
    .replace(/\.+$/, '')
    .replace(/[^A-Za-z0-9_.-]/g, '');
  return cleaned === '' ? 'blank' : cleaned;
}
