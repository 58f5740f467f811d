import { createHash } from 'node:crypto';
import { SERVICE_NAMES } from '@rookery/contracts';
import type { ProcessName } from '@rookery/platform';

const PROCESSES: readonly ProcessName[] = ['gateway', ...SERVICE_NAMES];

/** `ROOKERY_INTERNAL_KEYS` of a process under test: all that it may present and check, whether it does or not. */
export function testInternalKeys(process: ProcessName): string {
  const others = PROCESSES.filter((name) => name !== process);
  const pairs = others.flatMap((other) => [[other, process] as const, [process, other] as const]);
  return pairs.map(([caller, callee]) => `test/${caller}/${callee}:${keyOf(caller, callee)}`).join(',');
}

/** The header by which one process under test asks another. */
export function internalAuthorization(caller: ProcessName, callee: ProcessName): string {
  return `Bearer ${keyOf(caller, callee)}`;
}

function keyOf(caller: ProcessName, callee: ProcessName): string {
  return createHash('sha256').update(`${caller}/${callee}`).digest('base64');
}
