/** How long a decision may take that the copy cannot make at once. Units: ms. */
export interface DecisionLimits {
  /** For the copy, before identity is asked. */
  readonly waitMs: number;
  /** For the answer of identity, connection included. */
  readonly askMs: number;
}

/** Where others than `DECISION_LIMITS` are told, as by tests of something else on a slow machine. */
export const DECISION_LIMITS_TOKEN = Symbol('decision limits');

/** Source: reference reliability 4.2, 4.3, 5. */
export const DECISION_LIMITS: DecisionLimits = { waitMs: 150, askMs: 300 };
