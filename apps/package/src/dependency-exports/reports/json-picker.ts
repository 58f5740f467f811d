import { TokenType } from '@streamparser/json';

/** The parts of a JSON document that are kept; all others are checked and skipped. */
export interface PickedShape {
  /** Keeps texts, numbers, booleans and null. `lenient` skips texts that are too long instead of refusing them. */
  readonly scalar?: 'strict' | 'lenient';
  /** Fields of an object that are kept. A function, so that shapes may contain themselves. */
  readonly fields?: () => Readonly<Record<string, PickedShape>>;
  readonly items?: ItemsShape;
}
interface ItemsShape {
  readonly of: PickedShape;
  /** Further items are skipped. */
  readonly most?: number;
  /** Hands each item over by this name instead of keeping it. */
  readonly emit?: string;
}

/** Kept values: objects without a prototype, arrays and scalars. */
export type PickedValue = string | number | boolean | null | PickedValue[] | PickedObject;
export interface PickedObject {
  readonly [name: string]: PickedValue | undefined;
}

/** The document is not JSON, or it exceeds a bound. The message is a phrase without names of files. */
export class InvalidJsonDocument extends Error {}

const MAX_DEPTH = 64;
/** Units: characters of a text. */
const MAX_TEXT = 8192;
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

type ExpectedToken = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma' | 'end';

interface OpenContainer {
  readonly shape: PickedShape | null;
  /** Set for an array. */
  readonly list: PickedValue[] | null;
  /** Set for an object. */
  readonly object: Record<string, PickedValue> | null;
  /** Every key of an object so far. */
  readonly keys: Set<string>;
  key: string;
  count: number;
}

/**
 * Collects the kept parts of a JSON document from its tokens, and checks its grammar. Items that are handed over are not
 * held, so that memory depends on one item and not on the document.
 * Errors, of `readToken` and `finish`: InvalidJsonDocument. Source: reference packages-and-admin 6.4.
 */
export class JsonPicker {
  private readonly frames: OpenContainer[] = [];
  private expected: ExpectedToken = 'value';
  private result: PickedValue | undefined;

  constructor(
    private readonly root: PickedShape,
    private readonly emit: (name: string, item: PickedValue) => void,
  ) {}

  readToken(token: TokenType, value: unknown): void {
    switch (token) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        return this.openContainer(token === TokenType.LEFT_BRACKET);
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        return this.closeContainer(token === TokenType.RIGHT_BRACKET);
      case TokenType.COLON:
        if (this.expected !== 'colon') throw notJsonError();
        this.expected = 'value';
        return;
      case TokenType.COMMA:
        if (this.expected !== 'comma') throw notJsonError();
        this.expected = this.frames.at(-1)!.list ? 'value' : 'key';
        return;
      default:
        return this.expected === 'key' || this.expected === 'first key' ? this.readKey(value) : this.readScalar(value);
    }
  }

  /** Returns the kept parts of the document after its last token. */
  finish(): PickedValue {
    if (this.expected !== 'end' || this.result === undefined) throw notJsonError();
    return this.result;
  }

  private openContainer(isArray: boolean): void {
    const shape = this.shapeOfNextValue();
    if (this.frames.length >= MAX_DEPTH) throw new InvalidJsonDocument(`it is nested deeper than ${MAX_DEPTH} levels`);
    const isKept = isArray ? shape?.items !== undefined : shape?.fields !== undefined;
    this.frames.push({
      shape: isKept ? shape : null,
      list: isArray ? [] : null,
      object: isArray ? null : (Object.create(null) as Record<string, PickedValue>),
      ...{ keys: new Set(), key: '', count: 0 },
    });
    this.expected = isArray ? 'first value' : 'first key';
  }

  private closeContainer(isArray: boolean): void {
    const frame = this.frames.at(-1);
    const mayClose = this.expected === 'comma' || this.expected === (isArray ? 'first value' : 'first key');
    if (!frame || !mayClose || isArray !== (frame.list !== null)) throw notJsonError();
    this.frames.pop();
    this.addToParent(frame.shape ? (frame.list ?? frame.object!) : undefined);
  }

  private readKey(value: unknown): void {
    const { keys } = this.frames.at(-1)!;
    if (typeof value !== 'string') throw notJsonError();
    if (value.length > MAX_TEXT) throw textTooLongError();
    if (REFUSED_KEYS.has(value)) throw new InvalidJsonDocument(`the key ${value} is not allowed`);
    if (keys.has(value)) throw new InvalidJsonDocument('an object has the same key twice');
    keys.add(value);
    this.frames.at(-1)!.key = value;
    this.expected = 'colon';
  }

  private readScalar(value: unknown): void {
    const wanted = this.shapeOfNextValue()?.scalar;
    if (wanted === undefined) return this.addToParent(undefined);
    if (typeof value !== 'string') return this.addToParent(value as PickedValue);
    if (value.length <= MAX_TEXT) return this.addToParent(storableText(value));
    if (wanted === 'strict') throw textTooLongError();
    this.addToParent(undefined);
  }

  /** Returns the shape of the value that begins; null if it is skipped. */
  private shapeOfNextValue(): PickedShape | null {
    if (this.expected !== 'value' && this.expected !== 'first value') throw notJsonError();
    const frame = this.frames.at(-1);
    if (!frame) return this.root;
    const { shape, list, key, count } = frame;
    if (!list) return fieldShape(shape, key);
    const items = shape?.items;
    return items && count < (items.most ?? Infinity) ? items.of : null;
  }

  /** Adds a completely read value to its parent. A skipped value is undefined and is not added. */
  private addToParent(value: PickedValue | undefined): void {
    const frame = this.frames.at(-1);
    this.expected = frame ? 'comma' : 'end';
    if (!frame) {
      this.result = value ?? null;
      return;
    }
    frame.count += 1;
    if (value === undefined || !frame.shape) return;
    const emitted = frame.list && frame.shape.items!.emit;
    if (emitted) this.emit(emitted, value);
    else if (frame.list) frame.list.push(value);
    else frame.object![frame.key] = value;
  }
}

function fieldShape(shape: PickedShape | null, key: string): PickedShape | null {
  const fields = shape?.fields?.();
  return fields && Object.hasOwn(fields, key) ? fields[key]! : null;
}

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
function storableText(text: string): string {
  return Buffer.from(text.replaceAll('\0', '')).toString();
}

function notJsonError(): InvalidJsonDocument {
  return new InvalidJsonDocument('it is no JSON document');
}

function textTooLongError(): InvalidJsonDocument {
  return new InvalidJsonDocument(`a text is longer than ${MAX_TEXT} characters`);
}
