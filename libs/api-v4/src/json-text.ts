/** JSON that PostgreSQL built: sent as it is, never parsed. Source: docs/performance.md 5.3. */
export class JsonText {
  constructor(readonly text: string) {}
}

export type { JsonPage } from '@rookery/kernel';
