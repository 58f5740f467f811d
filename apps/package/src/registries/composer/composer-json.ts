import { Refused, Unprocessable } from '@rookery/kernel';

/** A description in `composer.json`. `text` is the JSON of the whole file in one line. */
export interface ComposerDescription {
  readonly name: string;
  readonly text: string;
}

// Repetitions always begin with a separator, so that matching takes linear time.
const NAME = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*\/[a-z0-9]+(?:(?:[_.]|-{1,2})[a-z0-9]+)*$/;
const MAX_NAME = 255;
/** Units: characters. Documents repeat the descriptions of all versions. */
const MAX_TEXT = 16 * 1024;
/** Levels of lists and objects. */
const MAX_DEPTH = 100;
const STABILITY = '(?:[._-]?(?:stable|beta|b|rc|alpha|a|patch|pl|p)(?:[.-]?\\d+(?:[.-]\\d+)*)?)?(?:[.-]?dev)?';
const TAG = new RegExp(`^v?(\\d+(?:\\.\\d+){0,3}${STABILITY})$`, 'i');
const NUMBERED_BRANCH = /^v?(\d+(?:\.\d+){0,2})(?:\.x)?$/i;

/**
 * Reads `composer.json`. Errors: Unprocessable for a file that is missing, no JSON object, too large, or without a valid
 * name.
 */
export function parseComposerJson(content: Buffer | null): ComposerDescription {
  if (content === null) throw new Unprocessable('The file composer.json was not found.');
  const parsed = parseComposerObject(content);
  const name = parsed['name'];
  if (typeof name !== 'string' || name === '') throw new Unprocessable('The file composer.json has no name.');
  if (name.length > MAX_NAME || !NAME.test(name)) throw new Unprocessable('The name in composer.json is invalid.');
  const text = JSON.stringify(parsed);
  if (text.length > MAX_TEXT) throw composerJsonTooLargeRefusal();
  return { name, text };
}

/** Refusal of a file that is too large. */
export function composerJsonTooLargeRefusal(): Unprocessable {
  return new Unprocessable('The file composer.json is too large.');
}

/** Returns the version that a tag stands for: `1.2.3` for `v1.2.3`. Errors: Refused. */
export function composerVersionOfTag(tag: string): string {
  const [, version] = TAG.exec(tag) ?? [];
  if (version === undefined) throw new Refused('Validation failed: Version is invalid', { verbatim: true });
  return version;
}

/** Returns the version that a branch stands for: `1.x-dev` for `1` and `1.x`, otherwise `dev-main`. */
export function composerVersionOfBranch(branch: string): string {
  const [, numbers] = NUMBERED_BRANCH.exec(branch) ?? [];
  return numbers === undefined ? `dev-${branch}` : `${numbers}.x-dev`;
}

/** Whether a version was made from a branch. */
export function isComposerBranchVersion(version: string): boolean {
  return version.startsWith('dev-') || version.endsWith('-dev');
}

function parseComposerObject(content: Buffer): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    parsed = null;
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  if (isObject && !isDeeperThan(parsed, MAX_DEPTH)) return { ...(parsed as object) };
  throw new Unprocessable('Could not parse composer.json file. Invalid JSON.');
}

/** Whether a value has more levels of lists and objects. JSON of thousands of levels cannot be written again. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeperThan(one, levels - 1));
}
