import { textBlocks } from './markdown-blocks';

/** A line of a list with a box before it. */
export interface TaskItem {
  readonly text: string;
  readonly done: boolean;
}

/** The boxes of a Markdown text, in order: `- [ ] write`, `1. [x] read`. Boxes in code do not count. */
export function taskItems(markdown: string | null): readonly TaskItem[] {
  if (!markdown?.includes('[')) return [];
  if (last.markdown !== markdown) last = { markdown, items: itemsIn(markdown) };
  return last.items;
}

/** One change asks for the boxes of its text more than once, and thousands of them take a tenth of a second to find. */
let last: { readonly markdown: string; readonly items: readonly TaskItem[] } = { markdown: '', items: [] };

function itemsIn(markdown: string): TaskItem[] {
  return textBlocks(markdown).flatMap((block) => {
    const match = block.isListItem ? /^\[([ xX])\](?:\s+|$)(.*)/.exec(block.text) : null;
    return match ? [{ text: match[2]!, done: match[1] !== ' ' }] : [];
  });
}

/** Boxes that were ticked or unticked while their texts stayed as they were; null when more than that changed. */
export function toggledTasks(before: string | null, after: string | null): TaskItem[] | null {
  const old = taskItems(before);
  const now = taskItems(after);
  if (old.length === 0 || old.length !== now.length) return null;
  if (now.some((item, index) => item.text !== old[index]!.text)) return null;
  const toggled = now.filter((item, index) => item.done !== old[index]!.done);
  return toggled.length > 0 ? toggled : null;
}
