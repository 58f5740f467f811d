import { textBlocks } from './markdown-blocks';

/** Task of a task list: a list item with a checkbox. */
export interface TaskItem {
  readonly text: string;
  readonly done: boolean;
}

/** Finds the tasks of a Markdown text, in order: `- [ ] write`, `1. [x] read`. Ignores code. */
export function findTasks(markdown: string | null): readonly TaskItem[] {
  if (!markdown?.includes('[')) return [];
  if (last.markdown !== markdown) last = { markdown, items: parseItems(markdown) };
  return last.items;
}

/**
 * Cache of the last text: one change reads the tasks of its text several times, and parsing thousands takes a tenth of a
 * second.
 */
let last: { readonly markdown: string; readonly items: readonly TaskItem[] } = { markdown: '', items: [] };

function parseItems(markdown: string): TaskItem[] {
  return textBlocks(markdown).flatMap((block) => {
    const match = block.isListItem ? /^\[([ xX])\](?:\s+|$)(.*)/.exec(block.text) : null;
    return match ? [{ text: match[2]!, done: match[1] !== ' ' }] : [];
  });
}

/** Returns the tasks whose checkbox changed; null if the texts or the number of tasks changed too, or nothing changed. */
export function toggledTasks(before: string | null, after: string | null): TaskItem[] | null {
  const old = findTasks(before);
  const now = findTasks(after);
  if (old.length === 0 || old.length !== now.length) return null;
  if (now.some((item, index) => item.text !== old[index]!.text)) return null;
  const toggled = now.filter((item, index) => item.done !== old[index]!.done);
  return toggled.length > 0 ? toggled : null;
}
