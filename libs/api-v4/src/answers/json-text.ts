/** JSON that PostgreSQL built. It is sent unchanged and never parsed. Source: docs/performance.md 5.3. */
export class JsonText {
  constructor(readonly text: string) {}
}

/**
 * Selects the second success of an endpoint. For `withAlternative`, `value` has the form of its schema. For `orNoContent`
 * and `orNoContentWithHeaders` it is null. `headers` are for `orNoContentWithHeaders`, by lower-case name.
 */
export class AlternativeAnswer {
  constructor(
    readonly value: object | null,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/**
 * Answers 202 with the resource while it is being made, for endpoints with `oneOrUnfinished`. Units: `pollMs` is the time
 * after which the client asks again.
 */
export class UnfinishedAnswer<T> {
  constructor(
    readonly row: T,
    readonly pollMs: number,
  ) {}
}

export type { JsonPage } from '@rookery/kernel';
