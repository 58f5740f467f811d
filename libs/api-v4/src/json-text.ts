/** JSON that PostgreSQL built: sent as it is, never parsed. Source: performance "What was learnt" 3. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A page whose rows are one JSON array already. Shape: `total` as in Page. */
export interface JsonPage {
  readonly json: string;
  readonly total: number | null;
  readonly hasNext: boolean;
}
