import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { escapeHtml } from '@rookery/kernel';
import type { FileAnswer } from '@rookery/api-v4';
import Negotiator from 'negotiator';
import type { IndexedFile, IndexedName } from './simple-index.queries';

/**
 * Index pages that installers read, in HTML (PEP 503, 629, 592, 658, 714) and JSON (PEP 691, 700). Pages are written while
 * their rows are read. Source: reference packages-and-admin 4.5.
 */

type PageForm = 'html' | 'json';
interface Representation {
  readonly form: PageForm;
  readonly mediaType: string;
}

const JSON_V1 = 'application/vnd.pypi.simple.v1+json';
const HTML_V1 = 'application/vnd.pypi.simple.v1+html';
const PLAIN: Representation = { form: 'html', mediaType: 'text/html; charset=utf-8' };
/** Representations by the media type that a client accepts. The first one wins if several are equally good. */
const REPRESENTATIONS: Readonly<Record<string, Representation>> = {
  'text/html': PLAIN,
  [HTML_V1]: { form: 'html', mediaType: `${HTML_V1}; charset=utf-8` },
  'application/vnd.pypi.simple.latest+html': { form: 'html', mediaType: `${HTML_V1}; charset=utf-8` },
  [JSON_V1]: { form: 'json', mediaType: JSON_V1 },
  'application/vnd.pypi.simple.latest+json': { form: 'json', mediaType: JSON_V1 },
};
const VARY = 'Accept, Authorization, Private-Token, Job-Token, Deploy-Token';
const API_VERSION = '1.1';

const TEXT = { type: 'string' } as const;
const META = {
  type: 'object',
  properties: { 'api-version': { ...TEXT, description: 'Version of the format.' } },
  description: 'Facts of the page.',
} as const;
const DIGESTS = {
  type: 'object',
  properties: { sha256: { ...TEXT, description: 'SHA-256 digest, in hexadecimal.' } },
} as const;
const METADATA = {
  oneOf: [{ type: 'boolean' }, DIGESTS],
  description: 'Digest of the core metadata, false without any.',
} as const;
const FILE = {
  type: 'object',
  properties: {
    filename: { ...TEXT, description: 'Name of the file.' },
    url: { ...TEXT, description: 'Absolute URL of the download.' },
    hashes: { ...DIGESTS, description: 'Digests of the file.' },
    'requires-python': { ...TEXT, description: 'Versions of Python that can use the file.' },
    size: { type: 'integer', description: 'Size in bytes.' },
    'upload-time': { ...TEXT, format: 'date-time', description: 'Time of the upload.' },
    yanked: { oneOf: [{ type: 'boolean' }, TEXT], description: 'Whether installers should ignore the file, or why.' },
    'core-metadata': METADATA,
  },
  required: ['filename', 'url', 'hashes', 'size', 'upload-time', 'yanked', 'core-metadata'],
} as const;
const NAME = { ...TEXT, description: 'Name of the package.' } as const;

/** Types of the list of packages other than `text/html`, with their schemas. */
export const INDEX_TYPES = {
  [HTML_V1]: TEXT,
  [JSON_V1]: {
    type: 'object',
    properties: {
      meta: META,
      projects: {
        type: 'array',
        items: { type: 'object', properties: { name: NAME }, required: ['name'] },
        description: 'Packages by normalized name.',
      },
    },
    required: ['meta', 'projects'],
  },
} as const;
/** Types of the page of a package other than `text/html`, with their schemas. */
export const PACKAGE_TYPES = {
  [HTML_V1]: TEXT,
  [JSON_V1]: {
    type: 'object',
    properties: {
      meta: META,
      name: { ...TEXT, description: 'Normalized name of the package.' },
      versions: { type: 'array', items: TEXT, description: 'Versions, sorted as text.' },
      files: { type: 'array', items: FILE, description: 'Files by name.' },
    },
    required: ['meta', 'name', 'versions', 'files'],
  },
} as const;

type Batches<R> = AsyncIterable<readonly R[]>;

/** The page of one package. `base` is the URL below which its files are; `digest` changes with them. */
export interface PackagePage {
  readonly nameKey: string;
  readonly base: string;
  readonly digest: string;
  readonly files: () => Batches<IndexedFile>;
  readonly versions: () => Batches<{ readonly version: string }>;
}

/** Renders the page of a package in the form that `accept` asks for; HTML if it asks for none of ours. */
export function renderPypiPackagePage(accept: string | undefined, page: PackagePage): FileAnswer {
  const { form, mediaType } = chooseRepresentation(accept);
  const version = createHash('sha256').update([mediaType, page.base, page.nameKey, page.digest].join('\n'));
  const pieces = form === 'json' ? writePackageJson : writePackageHtml;
  return { ...streamedAnswer(mediaType, () => pieces(page)), version: version.digest('hex').slice(0, 32) };
}

/** Renders the list of all packages. `base` is the URL of the list, without a slash at its end. */
export function renderPypiIndexPage(
  accept: string | undefined,
  base: string,
  names: () => Batches<IndexedName>,
): FileAnswer {
  const { form, mediaType } = chooseRepresentation(accept);
  return streamedAnswer(mediaType, () => (form === 'json' ? writeIndexJson(names()) : writeIndexHtml(base, names())));
}

function chooseRepresentation(accept: string | undefined): Representation {
  const accepted = new Negotiator({ headers: { accept } }).mediaType(Object.keys(REPRESENTATIONS));
  return (accepted === undefined ? undefined : REPRESENTATIONS[accepted]) ?? PLAIN;
}

function streamedAnswer(mediaType: string, pieces: () => AsyncGenerator<string>): FileAnswer {
  return { stream: () => Readable.from(toBytes(pieces()), { objectMode: false }), mediaType, vary: VARY };
}

async function* toBytes(pieces: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

async function* writePackageHtml({ nameKey, base, files }: PackagePage): AsyncGenerator<string> {
  yield writePageHead(`Links for ${nameKey}`);
  for await (const batch of files()) yield batch.map((file) => writeFileAnchor(file, base)).join('');
  yield TAIL;
}

async function* writeIndexHtml(base: string, names: Batches<IndexedName>): AsyncGenerator<string> {
  yield writePageHead('Simple index');
  for await (const batch of names)
    yield batch.map(({ name_key, name }) => writeAnchor(`${base}/${name_key}/`, '', name)).join('');
  yield TAIL;
}

async function* writePackageJson({ nameKey, base, files, versions }: PackagePage): AsyncGenerator<string> {
  yield `{"meta":{"api-version":"${API_VERSION}"},"name":${JSON.stringify(nameKey)},"versions":[`;
  yield* writeJsonList(versions(), ({ version }) => version);
  yield '],"files":[';
  yield* writeJsonList(files(), (file) => toFileJson(file, base));
  yield ']}';
}

async function* writeIndexJson(names: Batches<IndexedName>): AsyncGenerator<string> {
  yield `{"meta":{"api-version":"${API_VERSION}"},"projects":[`;
  yield* writeJsonList(names, ({ name }) => ({ name }));
  yield ']}';
}

/** The elements of a JSON array, without its brackets. */
async function* writeJsonList<R>(batches: Batches<R>, valueOf: (row: R) => unknown): AsyncGenerator<string> {
  let separator = '';
  for await (const batch of batches) {
    yield separator + batch.map((row) => JSON.stringify(valueOf(row))).join(',');
    separator = ',';
  }
}

function toFileJson(file: IndexedFile, base: string): object {
  return {
    filename: file.file_name,
    url: fileUrl(file, base),
    hashes: { sha256: file.sha256 },
    ...(file.requires_python === null ? {} : { 'requires-python': file.requires_python }),
    size: file.size,
    'upload-time': file.created_at.toISOString(),
    yanked: file.yanked === null ? false : file.yanked || true,
    // Not under its old name `dist-info-metadata` as well: pip 22.3 to 23.0 fails on that key (PEP 714).
    'core-metadata': file.metadata_sha256 === null ? false : { sha256: file.metadata_sha256 },
  };
}

function writeFileAnchor(file: IndexedFile, base: string): string {
  const metadata = file.metadata_sha256 === null ? null : `sha256=${file.metadata_sha256}`;
  const attributes = [
    writeAttribute('data-requires-python', file.requires_python),
    writeAttribute('data-core-metadata', metadata),
    writeAttribute('data-dist-info-metadata', metadata),
    writeAttribute('data-yanked', file.yanked),
  ];
  return writeAnchor(`${fileUrl(file, base)}#sha256=${file.sha256}`, attributes.join(''), file.file_name);
}

function fileUrl({ sha256, file_name }: IndexedFile, base: string): string {
  return `${base}/${sha256}/${encodeURIComponent(file_name)}`;
}

function writeAnchor(href: string, attributes: string, text: string): string {
  return `<a href="${escapeHtml(href)}"${attributes}>${escapeHtml(text)}</a><br>\n`;
}

function writeAttribute(name: string, value: string | null): string {
  return value === null ? '' : ` ${name}="${escapeHtml(value)}"`;
}

function writePageHead(title: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="${API_VERSION}">
<title>${escapeHtml(title)}</title>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
`;
}

const TAIL = '</body>\n</html>\n';
