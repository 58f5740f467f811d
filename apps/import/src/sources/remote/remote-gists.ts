import { toFields, isId, storableText, parseText, parseTime } from '../upstream-fields';

/** A file of a gist. `content` is null if the host sends it only at `rawUrl`. Units: `bytes` as the host says. */
export interface RemoteGistFile {
  readonly name: string;
  readonly bytes: number;
  readonly rawUrl: string;
  readonly content: string | null;
}

/** A gist: text files that a user shares. */
export interface RemoteGist {
  readonly id: string;
  readonly description: string | null;
  readonly isPublic: boolean;
  readonly files: readonly RemoteGistFile[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Shape of an id, which is part of a path. */
const ID = /^[\w-]{1,64}$/;

/**
 * Reads a gist. Returns null if a required field is missing or has another type. Source: reference identity-and-import
 * 6.9.
 */
export function parseGist(item: unknown): RemoteGist | null {
  const { id, public: isPublic, description, files, created_at: created, updated_at: updated } = toFields(item);
  const createdAt = parseTime(created);
  if (typeof id !== 'string' || !ID.test(id) || createdAt === null) return null;
  const found = Object.values(toFields(files)).map(parseGistFile);
  return {
    ...{ id, description: parseText(description), isPublic: isPublic === true, createdAt },
    ...{ updatedAt: parseTime(updated) ?? createdAt, files: found.filter((file) => file !== null) },
  };
}

function parseGistFile(value: unknown): RemoteGistFile | null {
  const { filename, raw_url: rawUrl, size, content, truncated } = toFields(value);
  if (typeof filename !== 'string' || filename === '' || typeof rawUrl !== 'string') return null;
  const isWhole = typeof content === 'string' && truncated !== true;
  return {
    ...{ name: storableText(filename), rawUrl, bytes: isId(size) ? size : 0 },
    content: isWhole ? storableText(content) : null,
  };
}
