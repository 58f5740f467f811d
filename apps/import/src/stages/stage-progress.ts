/** Progress of a stage of an import. `nextPage` is the page to fetch next; null stands for the first page. */
export interface StageProgress {
  readonly isDone: boolean;
  readonly nextPage: string | null;
  readonly pages: number;
}

/** An imported page of an upstream list. `next` is the address of the next page, or null after the last page. */
export interface StagePage {
  readonly next: string | null;
  /** Number of objects that the host has sent. */
  readonly fetched: number;
  /** Number of them that are in the project now. */
  readonly imported: number;
  /** Numbers of files that the texts of the page link to, and of those that are stored. */
  readonly attachments?: { readonly fetched: number; readonly imported: number };
}
