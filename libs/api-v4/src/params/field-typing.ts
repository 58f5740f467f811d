/** Options of every field decorator. */
export interface FieldCommon<T> {
  readonly optional?: true;
  /**
   * Passes an explicit null to the handler; without it null counts as not sent. Requires `optional` or `default`: a
   * parameter that may be null may be omitted.
   */
  readonly nullable?: true;
  /** Value when the parameter is not sent. Makes it optional. */
  readonly default?: T;
  /**
   * The only source of the parameter. Names in the path template come from the path without this option. Credentials
   * belong in a header, because URLs are logged.
   */
  readonly in?: 'path' | 'header';
  /**
   * Header that may carry the value, in lower case. It has precedence over a parameter. The gateway must forward it.
   */
  readonly header?: string;
  /** Deprecated names that are accepted for this parameter. */
  readonly alias?: string | readonly string[];
  /** Names the replacement of a deprecated parameter. */
  readonly deprecated?: string;
  /** Description for the OpenAPI document. */
  readonly about?: string;
  /**
   * Makes a request costly for the database. The number of concurrent costly requests is limited for each process and
   * each caller; a request that waits too long gets 429. Source: reference reliability 6.3.
   */
  readonly costly?: true;
  /** The parameter is read for compatibility only. Sent ones are named in `X-Rookery-Ignored`. */
  readonly hasNoEffect?: true;
  /**
   * Has an effect for administrators only, and the description begins by saying so. Ones that other callers send are named
   * in `X-Rookery-Ignored`.
   */
  readonly forAdministrators?: true;
}

/** Type of the property of a field: the value, with null or undefined if the options allow them. */
export type FieldValue<V, O> = O extends { readonly default: unknown }
  ? NullIfNullable<V, O>
  : O extends { readonly optional: true }
    ? NullIfNullable<V, O> | undefined
    : // `nullable` alone is a mistake and matches no property.
      O extends { readonly nullable: true }
      ? never
      : V;

type NullIfNullable<V, O> = O extends { readonly nullable: true } ? V | null : V;

/**
 * Decorator for properties of one type. The property's type must equal the type of the field's values; it may be as
 * wide as `Widest`, for `readonly` lists.
 */
export type FieldDecorator<V, Widest = V> = <C extends object, K extends keyof C & string>(
  target: C,
  key: FitsPropertyType<C[K], V, Widest> extends true ? K : TypeMismatch<C[K], V>,
) => void;

type FitsPropertyType<Property, V, Widest> = [V] extends [Property]
  ? [Property] extends [Widest]
    ? true
    : false
  : false;

/** Appears in the compiler's message when a property has another type than its field. */
interface TypeMismatch<Property, V> {
  readonly 'the property promises': Property;
  readonly 'the field gives': V;
}

/** Decorator for classes that have all of these properties. */
export type FieldsDecorator<N extends string> = <C extends abstract new (...args: never[]) => object>(
  target: [N] extends [keyof InstanceType<C>] ? C : UnknownField<Exclude<N, keyof InstanceType<C>>>,
) => void;

/** Appears in the compiler's message when a rule over several fields names a missing field. */
interface UnknownField<N> {
  readonly 'no field of the class': N;
}
