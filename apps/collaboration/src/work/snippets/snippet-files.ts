import { Invalid } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SnippetFile } from './snippet.entity';

export const FILE_ACTIONS = ['create', 'update', 'delete', 'move'] as const;
/** A change of one file of a snippet. A request lists several; they apply in their order. */
export interface FileAction {
  readonly action: (typeof FILE_ACTIONS)[number];
  readonly file_path?: string;
  /** Current path of the file, for a move. */
  readonly previous_path?: string;
  readonly content?: string;
}

/** An existing file. Units: `bytes` of its content, which is not read. */
export type ExistingFile = Pick<RowOf<SnippetFile, 'id' | 'path'>, 'id' | 'path'> & { readonly bytes: number };

/** A file after the change. `id` is null for a new file. `content` is null if the content does not change. */
export interface TargetFile {
  readonly id: number | null;
  readonly path: string;
  readonly content: string | null;
  readonly bytes: number;
}

/** Limit of files in one snippet. Source: reference work-tracking 9.2. */
const MOST_FILES = 10;
/** Units: characters. */
const LONGEST_PATH = 255;
/** Limit of all files of a snippet together. Units: bytes. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Returns the files of a snippet after these actions. Errors: Invalid of `files` with the first problem. */
export function applySnippetFileActions(
  existing: readonly ExistingFile[],
  actions: readonly FileAction[],
): readonly TargetFile[] {
  const files = new Map<string, TargetFile>(existing.map((file) => [file.path, { ...file, content: null }]));
  for (const action of actions) applyAction(files, action);
  if (files.size === 0) throw createSnippetFilesError("can't be blank");
  if (files.size > MOST_FILES) throw createSnippetFilesError(`are too many (maximum is ${MOST_FILES})`);
  const target = [...files.values()];
  const bytes = target.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MOST_BYTES) throw createSnippetFilesError(`are too big (maximum is ${MOST_BYTES} bytes)`);
  return target;
}

/** Encodes a path for a URL; its slashes stay. */
export function encodeUrlPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function applyAction(files: Map<string, TargetFile>, { action, ...o }: FileAction): void {
  switch (action) {
    case 'create':
      return addFile(files, requireFileActionValue(o.file_path, 'file_path'), {
        id: null,
        ...toContentWithByteLength(requireFileActionValue(o.content, 'content')),
      });
    case 'update':
      return updateFile(
        files,
        requireFileActionValue(o.file_path, 'file_path'),
        requireFileActionValue(o.content, 'content'),
      );
    case 'delete':
      removeFile(files, requireFileActionValue(o.file_path, 'file_path'));
      return;
    case 'move': {
      const file = removeFile(files, requireFileActionValue(o.previous_path, 'previous_path'));
      return addFile(
        files,
        requireFileActionValue(o.file_path, 'file_path'),
        o.content === undefined ? file : { ...file, ...toContentWithByteLength(o.content) },
      );
    }
  }
}

function updateFile(files: Map<string, TargetFile>, path: string, content: string): void {
  const file = files.get(path);
  if (!file) throw createSnippetFilesError(`have no ${path}`);
  // Setting an existing key of a Map keeps its position.
  files.set(path, { ...file, ...toContentWithByteLength(content) });
}

function removeFile(files: Map<string, TargetFile>, path: string): TargetFile {
  const file = files.get(path);
  if (!file) throw createSnippetFilesError(`have no ${path}`);
  files.delete(path);
  return file;
}

function addFile(files: Map<string, TargetFile>, path: string, file: Omit<TargetFile, 'path'>): void {
  if (!isValidSnippetPath(path)) throw createSnippetFilesError('have a path that is invalid');
  if (files.has(path)) throw createSnippetFilesError(`have ${path} already`);
  files.set(path, { ...file, path });
}

function toContentWithByteLength(content: string): Pick<TargetFile, 'content' | 'bytes'> {
  return { content, bytes: Buffer.byteLength(content) };
}

function requireFileActionValue(value: string | undefined, name: string): string {
  if (value === undefined) throw createSnippetFilesError(`have an action without ${name}`);
  return value;
}

/**
 * Checks that a path cannot leave a folder, end a line of a header or a log, or be encoded twice in a URL (the gateway
 * refuses that).
 */
function isValidSnippetPath(path: string): boolean {
  if (path.length > LONGEST_PATH || /[\p{Cc}\p{Zl}\p{Zp}\\]|%[0-9a-f]{2}/iu.test(path)) return false;
  return path.split('/').every((part) => part.trim() !== '' && part !== '.' && part !== '..');
}

function createSnippetFilesError(text: string): Invalid {
  return new Invalid({ files: [text] });
}
