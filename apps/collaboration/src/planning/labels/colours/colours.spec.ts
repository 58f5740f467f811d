import { normalizeColour, textColourOn } from './colours';
import { CSS_COLOURS } from './css-colours';

test.each([
  ['#FFaa00', '#FFaa00'],
  ['#fff', '#fff'],
  [' tomato ', '#FF6347'],
  ['RebeccaPurple', '#663399'],
  ['#ffff', null],
  ['#gggggg', null],
  ['FFAABB', null],
  ['tomatoes', null],
  ['', null],
  ['x'.repeat(1_000_000), null],
])('%.20j is stored as the colour %j', (sent, stored) => expect(normalizeColour(sent)).toBe(stored));

test('contains all CSS colour names', () => {
  expect(CSS_COLOURS.size).toBe(148);
  for (const hex of CSS_COLOURS.values()) expect(hex).toMatch(/^[0-9A-F]{6}$/);
});

test.each([
  ['#d9534f', '#FFFFFF'],
  ['#f0ad4e', '#FFFFFF'],
  ['#ffffff', '#1F1E24'],
  ['#fff', '#1F1E24'],
  ['#000', '#FFFFFF'],
  ['#f0f0f0', '#1F1E24'],
])('text on %s is %s', (colour, text) => expect(textColourOn(colour)).toBe(text));
