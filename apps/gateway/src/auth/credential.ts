import { hash } from 'node:crypto';
import { isBlankSudo, isSudoSpelling, findSudoValues } from '@rookery/api-v4';
import type { RequestHead } from '../request/request-head';
import type { ConanClientTokens } from './client-tokens';

/** `digest` is the SHA-256 of the secret, in hexadecimal. */
export interface Credential {
  readonly kind: 'token' | 'job';
  readonly digest: string;
  /** Time of expiry of the client token that stands for the credential. Units: seconds since 1970. */
  readonly expires?: number;
}

/**
 * Credentials and `sudo` in a query or a small body. Empty texts count as absent; several values of `sudo` are joined.
 */
export interface CallerParameters {
  readonly privateToken: string;
  readonly accessToken: string;
  readonly jobToken: string;
  readonly sudo: string;
}

const NO_PARAMETERS: CallerParameters = { privateToken: '', accessToken: '', jobToken: '', sudo: '' };

const FIELDS: ReadonlyMap<string, keyof CallerParameters> = new Map([
  ['private_token', 'privateToken'],
  ['access_token', 'accessToken'],
  ['job_token', 'jobToken'],
  ['sudo', 'sudo'],
]);
const JOB_USER = 'gitlab-ci-token';
const JOB_PREFIX = 'glcbt-';
/** Prefixes of tokens, except those of jobs. */
const TOKEN = /^gl(?!cbt-)[a-z]+-[\w-]{16,}/;

/** Reads credentials and `sudo` from a query and removes the credentials, so that no upstream log holds them. */
export function extractQueryCredentials(query: string): {
  readonly parameters: CallerParameters;
  readonly onward: string;
} {
  if (!query.includes('token') && !query.includes('sudo') && !query.includes('%')) {
    return { parameters: NO_PARAMETERS, onward: query };
  }
  const parameters = { ...NO_PARAMETERS };
  const named: string[] = [];
  let isRead = false;
  const kept = query.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeFormText(pair.slice(equals + 1));
    const field = FIELDS.get(name);
    if (field === undefined || field === 'sudo') {
      // A blank value does not cancel another: a client that names a user does not want to act as itself.
      if (value !== '' && isSudoSpelling(name)) named.push(value);
      isRead ||= field === 'sudo' && value !== '';
      return true;
    }
    parameters[field] = value;
    return false;
  });
  // Other spellings alone do not count here: the service refuses them.
  if (isRead) parameters.sudo = joinSudoUsers(named);
  return { parameters, onward: kept.join('&') };
}

/**
 * Several values are joined by this text, which no user name contains, so that `Sudo` refuses them as it does two
 * headers.
 */
export const SUDO_SEPARATOR = ', ';
const joinSudoUsers = (sudoUsers: readonly unknown[]): string => sudoUsers.map(String).join(SUDO_SEPARATOR);

/**
 * Reads credentials and `sudo` from a body that was collected anyway. Source: reference identity-and-import 1.4, 4.1.
 */
export function readBodyCredentials(body: Buffer, contentType: string): CallerParameters {
  const type = contentType.toLowerCase();
  if (!body.includes('_token') && !body.includes('sudo')) return NO_PARAMETERS;
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return extractQueryCredentials(body.toString()).parameters;
  }
  if (!type.startsWith('application/json')) return NO_PARAMETERS;
  try {
    const parsed = JSON.parse(body.toString()) as Record<string, unknown> | null;
    const text = (name: string): string => (typeof parsed?.[name] === 'string' ? parsed[name] : '');
    const named = isJsonObject(parsed) ? findSudoValues(body.toString()).filter((value) => !isBlankSudo(value)) : [];
    const last = typeof parsed?.['sudo'] === 'number' ? String(parsed['sudo']) : text('sudo');
    return {
      privateToken: text('private_token'),
      accessToken: text('access_token'),
      jobToken: text('job_token'),
      sudo: last !== '' && named.length > 1 ? joinSudoUsers(named) : last,
    };
  } catch {
    // The service reports malformed JSON.
    return NO_PARAMETERS;
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ESCAPES = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi;
/** A `sudo` that names no user, in form encoding or JSON. */
const BLANK_SUDO = /(?<=^|&)sudo=?(?=&|$)|"sudo"\s*:\s*(?:null|"\s*")/gi;

/**
 * Whether a body may contain a `sudo` that `readBodyCredentials` does not read. For bodies that no service reads either: without
 * this check, a request meant to act as another user would act as its sender. Any `sudo` that is not blank counts.
 */
export function mayBodyContainSudo(body: Buffer): boolean {
  const text = body.toString('latin1').replaceAll('\0', '');
  const plain = text.replace(ESCAPES, (_, inForm?: string, inJson?: string) =>
    String.fromCharCode(parseInt(inForm ?? inJson!, 16)),
  );
  return /sudo/i.test(plain.replace(BLANK_SUDO, ''));
}

/**
 * Returns the one credential that counts: PRIVATE-TOKEN, private_token, Deploy-Token, X-NuGet-ApiKey, Bearer, access_token, Basic, job token.
 * Deploy-Token, X-NuGet-ApiKey and Basic count on routes of git and package managers only (`isClientRoute`), and client
 * tokens only where `tokens` reads them. Source: reference identity-and-import 4.1, packages-and-admin 1.4.
 */
export function presentedCredential(
  head: RequestHead,
  parameters: CallerParameters,
  { isClientRoute, tokens }: { readonly isClientRoute: boolean; readonly tokens: ConanClientTokens | null },
): Credential | null {
  const token =
    head.privateToken.trim() ||
    parameters.privateToken ||
    (isClientRoute ? head.deployToken.trim() || head.nugetApiKey.trim() : '') ||
    credentialsAfterScheme(head.authorization, 'bearer') ||
    parameters.accessToken;
  const known = token && tokens ? tokens.readToken(token) : null;
  if (known) return known;
  if (token) return createCredential(isJobTokenSentAsBearer(head, parameters, token) ? 'job' : 'token', token);
  const basic = isClientRoute ? credentialsAfterScheme(head.authorization, 'basic') : '';
  if (basic) return parseBasicCredential(basic);
  const job = head.jobToken.trim() || parameters.jobToken;
  return job ? createCredential('job', job) : null;
}

function createCredential(kind: Credential['kind'], secret: string): Credential {
  return { kind, digest: hash('sha256', secret, 'hex') };
}

/** Package managers send the token of a job like any other token (`_authToken` of npm). */
function isJobTokenSentAsBearer(head: RequestHead, parameters: CallerParameters, token: string): boolean {
  const isPrivate = head.privateToken.trim() === token || parameters.privateToken === token;
  return token.startsWith(JOB_PREFIX) && !isPrivate;
}

function parseBasicCredential(encoded: string): Credential | null {
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  const [user, secret] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon < 0) return null;
  // `https://<token>@host/` sends the token as the name.
  if (secret === '') return TOKEN.test(user) ? createCredential('token', user) : null;
  if (secret.startsWith(JOB_PREFIX)) return createCredential('job', secret);
  // Bots send tokens of users under the name of jobs, too.
  return createCredential(user === JOB_USER && !TOKEN.test(secret) ? 'job' : 'token', secret);
}

function credentialsAfterScheme(authorization: string, scheme: string): string {
  if (authorization.length <= scheme.length + 1 || authorization.charCodeAt(scheme.length) !== 0x20) return '';
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return '';
  return authorization.slice(scheme.length + 1).trim();
}

function decodeFormText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
