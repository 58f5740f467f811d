import { InvalidParameters, Refused } from '@rookery/kernel';
import type { StoredFile } from '../../packages/package-files';
import { nameKeyOf } from '../../packages/package-types';
import { normalizePypiVersion } from './python-version';

/** Text parts of the form that are read. Clients send many more, a README among them. */
export const FORM_FIELDS = [
  ':action',
  'name',
  'version',
  'requires_python',
  'sha256_digest',
  'blake2_256_digest',
  'md5_digest',
] as const;
export type FormFields = ReadonlyMap<(typeof FORM_FIELDS)[number], string>;

/** A stored file with its name in the form. */
export interface UploadedContent {
  readonly fileName: string;
  /** BLAKE2b is absent if the form states SHA-256 alone. */
  readonly file: StoredFile & { readonly 'blake2b-256'?: string };
}

/** One file of a version of a package, as an upload describes it. */
export interface PypiRelease {
  readonly name: string;
  readonly nameKey: string;
  readonly version: string;
  readonly versionKey: string;
  readonly requiresPython: string | null;
  readonly content: UploadedContent;
}

const NAME = /^(?=.*[A-Za-z0-9])[A-Za-z0-9._-]+$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._+!-]*\.(?:whl|tar\.gz|zip|tar\.bz2|egg|tgz)$/;
const CONTROLS = /\p{Cc}/u;
/** Units: characters. */
const MAX_LENGTH = 255;

/** Returns the name that a form declares. Errors: InvalidParameters without one, Refused for an invalid one. */
export function readPypiPackageName(fields: FormFields): string {
  const name = requireField(fields, 'name');
  if (name.length > MAX_LENGTH || !NAME.test(name)) throw pypiValidationRefusal('Name is invalid');
  return name;
}

/**
 * Returns what an upload declares, checked against its content.
 * Errors: InvalidParameters for a missing part or a malformed digest; Refused for other invalid values.
 * Source: reference packages-and-admin 4.5.
 */
export function parsePypiRelease(fields: FormFields, content: UploadedContent | null): PypiRelease {
  const name = readPypiPackageName(fields);
  const version = requireField(fields, 'version').trim();
  if (content === null) throw new InvalidParameters(['content is missing']);
  const versionKey = normalizePypiVersion(version);
  if (versionKey === null) throw pypiValidationRefusal('Version is invalid');
  const nameKey = nameKeyOf('pypi', name);
  checkPypiFileName(content.fileName, nameKey, versionKey);
  checkDigests(fields, content.file);
  const requiresPython = fields.get('requires_python')?.trim() || null;
  if (requiresPython !== null && CONTROLS.test(requiresPython))
    throw pypiValidationRefusal('Required python is invalid');
  if (requiresPython !== null && requiresPython.length > MAX_LENGTH)
    throw pypiValidationRefusal(`Required python is too long (maximum is ${MAX_LENGTH} characters)`);
  return { name, nameKey, version, versionKey, requiresPython, content };
}

/** A refusal with the text that clients know, without a status number. */
export function pypiValidationRefusal(problem: string): Refused {
  return new Refused(`Validation failed: ${problem}`, { verbatim: true });
}

function requireField(fields: FormFields, name: 'name' | 'version'): string {
  const value = fields.get(name);
  if (value === undefined) throw new InvalidParameters([`${name} is missing`]);
  return value;
}

/** A file belongs to the package whose name it begins with, so that it cannot pass for one of another package. */
function checkPypiFileName(fileName: string, nameKey: string, versionKey: string): void {
  const isValid = fileName.length <= MAX_LENGTH && FILE_NAME.test(fileName);
  const isOfPackage = fileName.endsWith('.whl')
    ? isWheelOf(fileName, nameKey, versionKey)
    : nameKeyOf('pypi', fileName).startsWith(`${nameKey}-`);
  if (!isValid || !isOfPackage) throw pypiValidationRefusal('File name is invalid');
}

/**
 * Whether a wheel names this package and version. Names of wheels have a hyphen between their parts only; older tools write
 * some versions in a form that cannot be compared.
 */
function isWheelOf(fileName: string, nameKey: string, versionKey: string): boolean {
  const [name = '', version] = fileName.split('-');
  if (version === undefined || nameKeyOf('pypi', name) !== nameKey) return false;
  return [versionKey, null].includes(normalizePypiVersion(version));
}

function checkDigests(fields: FormFields, file: UploadedContent['file']): void {
  const sha256 = fields.get('sha256_digest')?.toLowerCase();
  const md5 = fields.get('md5_digest')?.toLowerCase();
  if (sha256 && !/^[0-9a-f]{64}$/.test(sha256)) throw new InvalidParameters(['sha256_digest is invalid']);
  // Some clients send an MD5 digest in another encoding than hexadecimal.
  const isHexMd5 = md5 !== undefined && /^[0-9a-f]{32}$/.test(md5);
  const blake2 = fields.get('blake2_256_digest')?.toLowerCase();
  const isHexBlake2 = blake2 !== undefined && /^[0-9a-f]{64}$/.test(blake2);
  const isWrongBlake2 = isHexBlake2 && blake2 !== (file['blake2b-256'] ?? blake2);
  if ((sha256 && sha256 !== file.sha256) || (isHexMd5 && md5 !== file.md5) || isWrongBlake2)
    throw pypiValidationRefusal('The digest does not match the uploaded file');
}
