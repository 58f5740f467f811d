import { choice, instant, int, list, object, text } from './schema';
import type { Infer } from './schema';

/** A snippet that an import brings to its user. `source` is the host, `upstream_id` the id there. */
export const IMPORTED_SNIPPET = object({
  user_id: int,
  source: text,
  upstream_id: text,
  title: text,
  visibility: choice('private', 'public'),
  files: list(object({ path: text, content: text })),
  created_at: instant,
  updated_at: instant,
});

/** POST importSnippet, answered by collaboration: writes one snippet, once for each upstream one. */
export type ImportSnippetRequest = Infer<typeof IMPORTED_SNIPPET>;

/** `problem` is a sentence; null for a snippet that exists now. */
export interface ImportSnippetAnswer {
  readonly problem: string | null;
}

/** Largest request with a snippet. Units: bytes. */
export const MAX_SNIPPET_REQUEST = 8 * 1024 * 1024;

/** Snippets that an import left out. `import_key` is a UUID. */
export const LEFT_OUT_SNIPPETS = object({
  import_key: text,
  user_id: int,
  import_id: int,
  snippets: list(object({ name: text, reason: text })),
});

/** POST importLeftOut, answered by collaboration: queues the e-mail about them, once for each `import_key`. */
export type LeftOutSnippetsRequest = Infer<typeof LEFT_OUT_SNIPPETS>;
export type LeftOutSnippetsAnswer = Readonly<Record<string, never>>;
/** Snippets that one e-mail lists. */
export const MAX_LEFT_OUT = 100;
