import { CSS_COLOURS } from './css-colours';

/** What a label has that names none. */
export const DEFAULT_COLOUR = '#6699cc';
const HEX = /^#(?:[0-9a-f]{3}){1,2}$/i;

/** A colour as it is stored: digits as they were sent, names of CSS as digits; null for anything else. */
export function colourOf(sent: string): string | null {
  const text = sent.trim();
  if (HEX.test(text)) return text;
  const named = text.length <= 20 ? CSS_COLOURS.get(text.toLowerCase()) : undefined;
  return named === undefined ? null : `#${named}`;
}

/** Units: the sum of red, green and blue from which on a colour is light. Source: reference work-tracking 9.4. */
const LIGHT = 500;

/** The colour of a text that can be read on this one. Shape: `#` and three or six digits. */
export function textColourOn(colour: string): string {
  const digits = colour.slice(1);
  const step = digits.length / 3;
  const parts = [0, 1, 2].map((part) => digits.slice(part * step, (part + 1) * step));
  const sum = parts.reduce((total, part) => total + parseInt(step === 1 ? part + part : part, 16), 0);
  return sum > LIGHT ? '#1F1E24' : '#FFFFFF';
}
