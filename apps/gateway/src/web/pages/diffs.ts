import { html } from 'hono/html';
import type { Html } from '../page';

/** The diff of one file, as the API has it. */
export interface FileDiff {
  readonly old_path: string;
  readonly new_path: string;
  readonly new_file: boolean;
  readonly deleted_file: boolean;
  readonly renamed_file: boolean;
  readonly diff: string;
}

/** Shows the diff of one file. */
export function showDiff({ old_path, new_path, new_file, deleted_file, renamed_file, diff }: FileDiff): Html {
  const what = new_file ? ' (new)' : deleted_file ? ' (deleted)' : renamed_file ? ` (was ${old_path})` : '';
  const lines = diff === '' ? [] : diff.replace(/\n$/, '').split('\n');
  const kindOf = (line: string): string => ({ '+': 'add', '-': 'del', '@': 'at' })[line[0] ?? ''] ?? '';
  return html`<section class="diff">
    <h3>${new_path}${what}</h3>
    ${lines.length === 0 ? html`<p class="soft">No text to show.</p>` : html`<pre tabindex="0"><code>${lines.map((line) => html`<span class="${kindOf(line)}">${line}</span>`)}</code></pre>`}
  </section>`;
}
