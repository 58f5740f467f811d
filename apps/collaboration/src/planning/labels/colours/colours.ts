import { CSS_COLOURS } from './css-colours';

/** Colour of a label if none is given. */
export const DEFAULT_COLOUR = '#6699cc';
const HEX = /^#(?:[0-9a-f]{3}){1,2}$/i;

/** Returns a colour in stored form: digits unchanged, CSS names as digits; null if invalid. */
export function normalizeColour(sent: string): string | null {
  const text = sent.trim();
  if (HEX.test(text)) return text;
  const named = text.length <= 20 ? CSS_COLOURS.get(text.toLowerCase()) : undefined;
  return named === undefined ? null : `#${named}`;
}

/** Sum of red, green and blue above which a colour is light. Source: reference work-tracking 9.4. */
const LIGHT = 500;

/**
 * Returns a text colour that is readable on a background colour. `colour` is `#` with three or six hexadecimal digits.
 */
export function textColourOn(colour: string): string {
  const digits = colour.slice(1);
  const step = digits.length / 3;
  const parts = [0, 1, 2].map((part) => digits.slice(part * step, (part + 1) * step));
  const sum = parts.reduce((total, part) => total + parseInt(step === 1 ? part + part : part, 16), 0);
  return sum > LIGHT ? '#1F1E24' : '#FFFFFF';
}
