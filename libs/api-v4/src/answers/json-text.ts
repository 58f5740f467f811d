/** JSON that PostgreSQL built: sent as it is, never parsed. Source: docs/performance.md 5.3. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The second success of an endpoint that has two (`orElse`). Shape: a value of its schema. */
export class Otherwise {
  constructor(readonly value: object) {}
}

export type { JsonPage } from '@rookery/kernel';
