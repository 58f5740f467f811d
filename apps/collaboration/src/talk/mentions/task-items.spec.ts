import { findTasks, toggledTasks } from './task-items';

test('finds the tasks of lists', () => {
  const text =
    '- [ ] write\n- [x] read\n1. [X] count\n  * [ ] nested\n- [] none\n- [~] neither\n[ ] no list\n```\n- [x] code\n```';
  expect(findTasks(text)).toEqual([
    { text: 'write', done: false },
    { text: 'read', done: true },
    { text: 'count', done: true },
    { text: 'nested', done: false },
  ]);
});

test('an issue without a description has no tasks', () => {
  expect(findTasks(null)).toEqual([]);
  expect(findTasks('')).toEqual([]);
});

test('distinguishes toggled tasks from other changes', () => {
  expect(toggledTasks('- [ ] a\n- [ ] b', '- [x] a\n- [ ] b')).toEqual([{ text: 'a', done: true }]);
  expect(toggledTasks('- [ ] a', '- [ ] b')).toBeNull();
  expect(toggledTasks('text', 'other text')).toBeNull();
  expect(toggledTasks('- [ ] a', '- [ ] a\n- [x] b')).toBeNull();
});
