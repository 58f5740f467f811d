/** Options as they were written, so that their types can be told apart; one that there is not does not compile. */
export type Known<O, All> = O & { readonly [Name in Exclude<keyof O, keyof All>]: never };

/**
 * An input and nothing besides: `class CreatePin implements NothingBut<PinInput, CreatePin>` does not compile once it
 * has a parameter that the input does not. Shape: `Own` names parameters that the endpoint itself uses (the path).
 */
export type NothingBut<Input, Sent, Own extends PropertyKey = never> = Input & {
  readonly [Name in Exclude<keyof Sent, keyof Input | Own>]?: never;
};

/**
 * What is left of an input when each part of it was taken out by name: nothing. Shape: `const { name, …, ...rest } =
 * input; nothingLeft(rest)` does not compile once the input has a part that is not named.
 */
export function nothingLeft(_rest: Readonly<Record<string, never>>): void {
  // The compiler has judged.
}
