import { Invalid } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SnippetFile } from './snippet.entity';

export const FILE_ACTIONS = ['create', 'update', 'delete', 'move'] as const;
/** One wish of several, carried out in their order. */
export interface FileAction {
  readonly action: (typeof FILE_ACTIONS)[number];
  readonly file_path?: string;
  /** Of a move: where the file is now. */
  readonly previous_path?: string;
  readonly content?: string;
}

/** A file that there is already. Units: `bytes` of its content, which is not read. */
export type KnownFile = Pick<RowOf<SnippetFile, 'id' | 'path'>, 'id' | 'path'> & { readonly bytes: number };

/** A file as it shall be. Shape: `id` null for a new one; `content` null where it stays as it is. */
export interface WishedFile {
  readonly id: number | null;
  readonly path: string;
  readonly content: string | null;
  readonly bytes: number;
}

/** Source: reference work-tracking 9.2. */
export const MOST_FILES = 10;
/** Units: characters. */
const LONGEST_PATH = 255;
/** Units: bytes, all files of a snippet together. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The files of a snippet after these wishes. Errors: Invalid of `files` with the first thing that is wrong. */
export function filesAfter(known: readonly KnownFile[], actions: readonly FileAction[]): readonly WishedFile[] {
  const files = new Map<string, WishedFile>(known.map((file) => [file.path, { ...file, content: null }]));
  for (const action of actions) carryOut(files, action);
  if (files.size === 0) throw problem("can't be blank");
  if (files.size > MOST_FILES) throw problem(`are too many (maximum is ${MOST_FILES})`);
  const wished = [...files.values()];
  const bytes = wished.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MOST_BYTES) throw problem(`are too big (maximum is ${MOST_BYTES} bytes)`);
  return wished;
}

/** A path as it stands in addresses, its slashes as they are. */
export function urlPathOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function carryOut(files: Map<string, WishedFile>, { action, ...o }: FileAction): void {
  switch (action) {
    case 'create':
      return put(files, said(o.file_path, 'file_path'), { id: null, ...contentOf(said(o.content, 'content')) });
    case 'update':
      return update(files, said(o.file_path, 'file_path'), said(o.content, 'content'));
    case 'delete':
      take(files, said(o.file_path, 'file_path'));
      return;
    case 'move': {
      const file = take(files, said(o.previous_path, 'previous_path'));
      return put(
        files,
        said(o.file_path, 'file_path'),
        o.content === undefined ? file : { ...file, ...contentOf(o.content) },
      );
    }
  }
}

function update(files: Map<string, WishedFile>, path: string, content: string): void {
  const file = files.get(path);
  if (!file) throw problem(`have no ${path}`);
  // Setting a key anew keeps its place.
  files.set(path, { ...file, ...contentOf(content) });
}

function take(files: Map<string, WishedFile>, path: string): WishedFile {
  const file = files.get(path);
  if (!file) throw problem(`have no ${path}`);
  files.delete(path);
  return file;
}

function put(files: Map<string, WishedFile>, path: string, file: Omit<WishedFile, 'path'>): void {
  if (!isPath(path)) throw problem('have a path that is invalid');
  if (files.has(path)) throw problem(`have ${path} already`);
  files.set(path, { ...file, path });
}

function contentOf(content: string): Pick<WishedFile, 'content' | 'bytes'> {
  return { content, bytes: Buffer.byteLength(content) };
}

function said(value: string | undefined, name: string): string {
  if (value === undefined) throw problem(`have an action without ${name}`);
  return value;
}

/**
 * Nothing that leads out of a folder, nothing that ends a line of a header or a log, and nothing that would be encoded
 * twice in an address, which the gateway refuses.
 */
function isPath(path: string): boolean {
  if (path.length > LONGEST_PATH || /[\p{Cc}\p{Zl}\p{Zp}\\]|%[0-9a-f]{2}/iu.test(path)) return false;
  return path.split('/').every((part) => part.trim() !== '' && part !== '.' && part !== '..');
}

function problem(text: string): Invalid {
  return new Invalid({ files: [text] });
}
