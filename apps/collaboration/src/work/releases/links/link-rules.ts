import { lengthProblems } from '@rookery/kernel';

/** A link as far as rules concern it. */
export interface CheckedLink {
  readonly name: string;
  readonly url: string;
  readonly filepath: string | null;
}

/** Maximum lengths. Units: characters. Source: reference repositories 7.4. */
const LONGEST = { Name: 255, Filepath: 128 };
/** An index entry holds no more. Units: bytes. */
const LONGEST_URL = 2048;
const SCHEMES = ['http:', 'https:', 'ftp:'];
/** A header could be split at them. */
const CONTROLS = /[\u0000-\u001f\u007f]/;
/** One test for each part, so that a hostile path costs linear time. */
const PATH_PART = /^[-.\w]+$/;
const LAST_CHARACTER = /[\da-zA-Z]$/;

/** Checks a link. Returns the problems as sentences, such as `Name can't be blank`. */
export function describeReleaseLinkProblems({ name, url, filepath }: CheckedLink): string[] {
  const blank = Object.entries({ Url: url, Name: name }).filter(([, value]) => value.trim() === '');
  const lengths = {
    Name: lengthProblems(name, LONGEST.Name),
    Filepath: lengthProblems(filepath ?? '', LONGEST.Filepath),
  };
  return [
    ...blank.map(([field]) => `${field} can't be blank`),
    ...(url.trim() === '' || isAllowedLinkUrl(url)
      ? []
      : ['Url is blocked: Only allowed schemes are http, https, ftp']),
    ...(Buffer.byteLength(url) > LONGEST_URL ? [`Url is too long (maximum is ${LONGEST_URL} bytes)`] : []),
    ...(filepath === null || isValidLinkFilepath(filepath) ? [] : ['Filepath is invalid']),
    ...Object.entries(lengths).flatMap(([field, problems]) => problems.map((problem) => `${field} ${problem}`)),
  ];
}

/** Returns the values that several links of one release share, as one sentence for each field. */
export function describeDuplicateReleaseLinks(links: readonly CheckedLink[]): string[] {
  return (['name', 'url', 'filepath'] as const).flatMap((field) => {
    const values = links.map((link) => link[field]).filter((value) => value !== null);
    const repeated = [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
    return repeated.length === 0 ? [] : [`Links have duplicate values (${repeated.join(', ')})`];
  });
}

function isAllowedLinkUrl(url: string): boolean {
  return !CONTROLS.test(url) && URL.canParse(url) && SCHEMES.includes(new URL(url).protocol);
}

function isValidLinkFilepath(path: string): boolean {
  const [first, ...parts] = path.split('/');
  return first === '' && parts.length > 0 && parts.every((part) => PATH_PART.test(part)) && LAST_CHARACTER.test(path);
}
