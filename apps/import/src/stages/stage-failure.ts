/** An object that a stage could not import. The import goes on without it. */
export interface FailedObject {
  /** Kind of the object, such as `branch`. */
  readonly relation: string;
  /** Name of the object upstream. */
  readonly name: string;
  readonly message: string;
}

/** A stage that cannot be completed. `message` is shown to users. `isFinal` is true if another try would fail too. */
export class ImportStageFailed extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ImportStageFailed';
  }
}

/** The upstream host limits the rate of requests: the import continues later. */
export class ImportStagePostponed extends Error {
  constructor(
    readonly until: Date,
    options?: ErrorOptions,
  ) {
    super('The host limits the rate of requests.', options);
    this.name = 'ImportStagePostponed';
  }
}
