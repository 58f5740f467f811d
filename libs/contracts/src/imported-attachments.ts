/** Files that imported texts link to, which the import service stores in package. Source: ADR 0202. */

/** An upstream file that is stored. `url` begins with `/uploads/` and is an address below the project. */
export interface ImportedAttachment {
  readonly url: string;
  readonly markdown: string;
}

/**
 * POST importAttachments, answered by package: finds files that the project already has. `sources` are hex SHA-256
 * digests of upstream addresses, at most MAX_FOUND_ATTACHMENTS.
 */
export interface FindAttachmentsRequest {
  readonly project_id: number;
  readonly sources: readonly string[];
}
/** Maximum number of files in one request, and so in one imported text. */
export const MAX_FOUND_ATTACHMENTS = 100;
/** Largest file that a project takes as an upload, by a user or an import. Units: bytes. Source: reference repositories 9.1. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** `attachments` has the order of the request, with null for a file that the project does not have. */
export interface FindAttachmentsAnswer {
  readonly attachments: readonly (ImportedAttachment | null)[];
  readonly total: ImportedTotal;
}

/** Number and size of all imported files of a project. */
export interface ImportedTotal {
  readonly files: number;
  readonly bytes: number;
}

/**
 * POST importAttachment, answered by package with an ImportedAttachment: stores the body, once for each `source`. The
 * fields are parameters of the query, with `project_id` in digits. The answer is 404 for a missing or archived project
 * and 413 for a file that is too large.
 */
export interface StoreAttachmentRequest {
  readonly project_id: string;
  readonly source: string;
  readonly filename: string;
}
