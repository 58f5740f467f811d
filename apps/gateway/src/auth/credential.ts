import { isBlankSudo, isLikeSudo, sudosIn } from '@rookery/api-v4';
import type { RequestHead } from '../request/request-head';

/** Shape: `secret` is the plaintext, kept no longer than the request. */
export interface Credential {
  readonly kind: 'token' | 'job';
  readonly secret: string;
}

/** What a query or a small body says about the caller. Empty texts count as absent; of `sudo` several are joined. */
export interface CallerParameters {
  readonly privateToken: string;
  readonly accessToken: string;
  readonly jobToken: string;
  readonly sudo: string;
}

export const NO_PARAMETERS: CallerParameters = { privateToken: '', accessToken: '', jobToken: '', sudo: '' };

const FIELDS: ReadonlyMap<string, keyof CallerParameters> = new Map([
  ['private_token', 'privateToken'],
  ['access_token', 'accessToken'],
  ['job_token', 'jobToken'],
  ['sudo', 'sudo'],
]);
const JOB_USER = 'gitlab-ci-token';

/** Reads the caller's parameters from a query and takes the credentials out of it, so that no log upstream holds them. */
export function readQuery(query: string): { readonly parameters: CallerParameters; readonly onward: string } {
  if (!query.includes('token') && !query.includes('sudo') && !query.includes('%')) {
    return { parameters: NO_PARAMETERS, onward: query };
  }
  const parameters = { ...NO_PARAMETERS };
  const named: string[] = [];
  let isRead = false;
  const kept = query.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    const field = FIELDS.get(name);
    if (field === undefined || field === 'sudo') {
      // A blank one takes nothing back: who named somebody does not want to act as themselves.
      if (value !== '' && isLikeSudo(name)) named.push(value);
      isRead ||= field === 'sudo' && value !== '';
      return true;
    }
    parameters[field] = value;
    return false;
  });
  // One that is written otherwise is none by itself: the service refuses it.
  if (isRead) parameters.sudo = joined(named);
  return { parameters, onward: kept.join('&') };
}

/** Two are nobody's name, and `Sudo` refuses them, as it does two headers. */
export const SEVERAL = ', ';
const joined = (named: readonly unknown[]): string => named.map(String).join(SEVERAL);

/** What a body that is at hand anyway says of the caller. Source: reference identity-and-import 1.4, 4.1. */
export function readBody(body: Buffer, contentType: string): CallerParameters {
  const type = contentType.toLowerCase();
  if (!body.includes('_token') && !body.includes('sudo')) return NO_PARAMETERS;
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return readQuery(body.toString()).parameters;
  }
  if (!type.startsWith('application/json')) return NO_PARAMETERS;
  try {
    const parsed = JSON.parse(body.toString()) as Record<string, unknown> | null;
    const text = (name: string): string => (typeof parsed?.[name] === 'string' ? parsed[name] : '');
    const named = isObject(parsed) ? sudosIn(body.toString()).filter((value) => !isBlankSudo(value)) : [];
    const last = typeof parsed?.['sudo'] === 'number' ? String(parsed['sudo']) : text('sudo');
    return {
      privateToken: text('private_token'),
      accessToken: text('access_token'),
      jobToken: text('job_token'),
      sudo: last !== '' && named.length > 1 ? joined(named) : last,
    };
  } catch {
    // The service says what is wrong with it.
    return NO_PARAMETERS;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ESCAPES = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi;
/** As a form and as JSON write a `sudo` that means nobody. */
const BLANK_SUDO = /(?<=^|&)sudo=?(?=&|$)|"sudo"\s*:\s*(?:null|"\s*")/gi;

/**
 * Whether a body may name somebody to act as in a way that `readBody` does not read: for bodies that no service reads
 * either, so that nobody acts as themselves who meant to be somebody else. Any `sudo` that is not blank counts.
 */
export function mayNameSudo(body: Buffer): boolean {
  const text = body.toString('latin1').replaceAll('\0', '');
  const plain = text.replace(ESCAPES, (_, inForm?: string, inJson?: string) =>
    String.fromCharCode(parseInt(inForm ?? inJson!, 16)),
  );
  return /sudo/i.test(plain.replace(BLANK_SUDO, ''));
}

/**
 * The one credential that counts: PRIVATE-TOKEN, private_token, Bearer, access_token, Basic (where git and package
 * managers send it), job token. Source: reference identity-and-import 4.1.
 */
export function presentedCredential(
  head: RequestHead,
  parameters: CallerParameters,
  mayBeBasic: boolean,
): Credential | null {
  const token =
    head.privateToken.trim() ||
    parameters.privateToken ||
    afterScheme(head.authorization, 'bearer') ||
    parameters.accessToken;
  if (token) return { kind: 'token', secret: token };
  const basic = mayBeBasic ? afterScheme(head.authorization, 'basic') : '';
  if (basic) return basicCredential(basic);
  const job = head.jobToken.trim() || parameters.jobToken;
  return job ? { kind: 'job', secret: job } : null;
}

function basicCredential(encoded: string): Credential | null {
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  const secret = text.slice(colon + 1);
  if (colon < 0 || secret === '') return null;
  return { kind: text.slice(0, colon) === JOB_USER ? 'job' : 'token', secret };
}

function afterScheme(authorization: string, scheme: string): string {
  if (authorization.length <= scheme.length + 1 || authorization.charCodeAt(scheme.length) !== 0x20) return '';
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return '';
  return authorization.slice(scheme.length + 1).trim();
}

function decoded(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
