/** Options with their literal types. An option that `All` does not have fails to compile. */
export type Known<O, All> = O & { readonly [Name in Exclude<keyof O, keyof All>]: never };

/**
 * Exactly the properties of an input: `class CreatePin implements ExactInput<PinInput, CreatePin>` does not compile
 * once the class has a parameter that the input lacks. `Own` names parameters that only the endpoint uses (the path).
 */
export type ExactInput<Input, Sent, Own extends PropertyKey = never> = Input & {
  readonly [Name in Exclude<keyof Sent, keyof Input | Own>]?: never;
};

/**
 * Asserts at compile time that every property of an input was destructured: `const { name, …, ...rest } = input;
 * assertAllUsed(rest)` does not compile once the input has a property that is not named.
 */
export function assertAllUsed(_rest: Readonly<Record<string, never>>): void {
  // Only the type of the parameter matters.
}
