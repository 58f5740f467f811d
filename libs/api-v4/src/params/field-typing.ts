/** What every field decorator takes. */
export interface FieldCommon<T> {
  readonly optional?: true;
  /**
   * An explicit null is told apart and reaches the handler as null; otherwise null counts as not sent. Goes with
   * `optional` or `default`: whoever may send null may send nothing.
   */
  readonly nullable?: true;
  /** Used when the parameter is not sent; makes it optional. */
  readonly default?: T;
  /**
   * Taken from there only. Parameters named in the path template are from the path, without saying so; what proves who
   * asks belongs in a header, since addresses stand in logs.
   */
  readonly in?: 'path' | 'header';
  /** A header that may carry it, in lower case; it counts before a parameter. The gateway must let it through. */
  readonly header?: string;
  /** Deprecated names that are folded into this one. */
  readonly alias?: string | readonly string[];
  /** What to use instead. */
  readonly deprecated?: string;
  readonly about?: string;
  /**
   * Asks much of the database. Requests that send it share a few places of the process, and each caller has a part of
   * these; who waits too long gets 429. Source: reference reliability 6.3.
   */
  readonly dear?: true;
}

/** What a handler finds in a property with such a field: the value, null and undefined as the options say. */
export type Found<V, O> = O extends { readonly default: unknown }
  ? OrNull<V, O>
  : O extends { readonly optional: true }
    ? OrNull<V, O> | undefined
    : // Alone, `nullable` fits no property.
      O extends { readonly nullable: true }
      ? never
      : V;

type OrNull<V, O> = O extends { readonly nullable: true } ? V | null : V;

/**
 * A decorator for properties of one type. Shape: what the property promises is what the field gives, no more and no
 * less; `Widest` is for values that a property may promise to leave as they are (`readonly` lists).
 */
export type FieldDecorator<V, Widest = V> = <C extends object, K extends keyof C & string>(
  target: C,
  key: Fits<C[K], V, Widest> extends true ? K : Mistaken<C[K], V>,
) => void;

type Fits<Property, V, Widest> = [V] extends [Property] ? ([Property] extends [Widest] ? true : false) : false;

/** What the compiler names when a field and its property differ. */
interface Mistaken<Property, V> {
  readonly 'the property promises': Property;
  readonly 'the field gives': V;
}

/** A decorator for classes that have all of these properties. */
export type FieldsDecorator<N extends string> = <C extends abstract new (...args: never[]) => object>(
  target: [N] extends [keyof InstanceType<C>] ? C : Unknown<Exclude<N, keyof InstanceType<C>>>,
) => void;

/** What the compiler names when a rule over several fields names one that there is not. */
interface Unknown<N> {
  readonly 'no field of the class': N;
}
